import type { HandlerContext } from "@connectrpc/connect";
import { isInOrgOf } from "../../database/org-key.ts";
import {
  type Client,
  type ClientSchema,
  ClientsService,
  type RotateClientRequest,
} from "../../../gen/iam/v1alpha/client_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { invalidField } from "../../errors/service-error.ts";
import { createApiKey } from "../../identity/api-key.ts";
import { patterns } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { clientDefinition } from "./definition.ts";
import { type IssuedClientRow, toClient } from "./message.ts";

const dayMs = 86_400_000;

/** Creates the method that replaces the secret of a client, with an overlap in which both are accepted. */
export function createRotateClient(served: ServedResource<"clients", IssuedClientRow, typeof ClientSchema>) {
  const { definition, reader, dependencies } = served;
  return async (request: RotateClientRequest, context: HandlerContext): Promise<Client> => {
    const path = targetOf(context, patterns.Client);
    const write = readWriteRequest(ClientsService.method.rotateClient, request, context);
    return runWrite(
      dependencies,
      write,
      (call) =>
        runOpen(call, { org: path[0] }, async (transaction) => {
          const { db, org, revision, time } = transaction;
          const found = await reader.find(db, path);
          const row = await requireFound(served, transaction, found, path, request.etag);
          if (!row.confidential)
            throw invalidField("path", "must be a confidential client; others have no secret", "path");
          const overlapMs = request.overlap === undefined ? dayMs : Number(request.overlap.seconds) * 1_000;
          const { secret, hash } = createApiKey();
          const columns = {
            secret_hash: hash,
            previous_secret_hash: await readSecretHash(transaction, row),
            previous_secret_expire_time: new Date(org.lockTime.getTime() + overlapMs),
          };
          const change = { fields: toClient(row), columns };
          const updated = await updateRow({ db, org, revision, time }, definition, row, change);
          const after = { ...row, ...updated };
          recordChange(transaction, definition, row, after);
          return toClient({ ...after, secret });
        }),
      clientDefinition.withoutSecrets,
    );
  };
}

async function readSecretHash({ db, org }: OrgTransaction, { id }: IssuedClientRow): Promise<Buffer | null> {
  const row = await db
    .selectFrom("clients")
    .select("secret_hash")
    .where(isInOrgOf("clients", org))
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return row.secret_hash;
}
