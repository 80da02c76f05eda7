import type { Message } from "@bufbuild/protobuf";
import type { Transaction } from "kysely";
import { AccessPreviewSchema } from "../../gen/iam/v1alpha/access_preview_pb.ts";
import type { PreviewAccess, Written } from "../access/preview.ts";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { Schema } from "../database/schema.ts";
import type { WriteRequest } from "./write-request.ts";

type Write = (db: Transaction<Schema>) => Promise<Message>;

/** Says in the answers to writes that are only to be checked who would gain or lose access by them. */
export interface PreviewedWrites {
  /**
   * Runs a write whose answer gets a preview, if it has a field for one.
   *
   * @param runWrite runs it in a transaction.
   */
  run(request: WriteRequest, write: Write, runWrite: (write: Write) => Promise<Message>): Promise<Message>;
  /** The same transaction, whose changes are seen if it is one that is previewed. */
  watch(transaction: OrgTransaction): OrgTransaction;
}

export function createPreviewedWrites(previewAccess: PreviewAccess): PreviewedWrites {
  const writtenIn = new WeakMap<Transaction<Schema>, Written[]>();

  return {
    async run({ caller, signal, validateOnly, answer: { fields } }, write, runWrite) {
      const field = fields.find(({ message }) => message === AccessPreviewSchema);
      if (!validateOnly || field === undefined) return runWrite(write);
      return previewAccess(caller, signal(), (tell) =>
        runWrite(async (db) => {
          const written: Written[] = [];
          writtenIn.set(db, written);
          const answer = await write(db);
          return Object.assign(answer, { [field.localName]: await tell(written) });
        }),
      );
    },

    watch(transaction) {
      const { db, org } = transaction;
      const written = writtenIn.get(db);
      if (written === undefined) return transaction;
      return {
        ...transaction,
        record(change) {
          written.push({ org, change });
          transaction.record(change);
        },
      };
    },
  };
}
