// What a member of the platform reads with an approved request is in the log of the org that has approved it: a line for each caller, by its member,
// impersonator and credential, for each method and path, and hour, which is written before anything is read. What it changes has entries of its own.
import { createHash } from "node:crypto";
import type { UnaryRequest } from "@connectrpc/connect";
import { authorOf } from "../../access/evaluation/call.ts";
import type { SupportRead } from "../../access/evaluation/support-access.ts";
import type { Change } from "../../changes/change.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import { joinedOf } from "../../standard-methods/write/joined-write.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";

/** Records what a call that is authorised, and not yet made, reads with approved requests. */
export type RecordSupportUse = (
  call: Pick<UnaryRequest, "contextValues" | "signal">,
  reads: readonly (SupportRead | undefined)[],
) => Promise<void>;

const hourMs = 3_600_000;

/** So many callers, methods and paths are known to have their line. */
const maxKnown = 10_000;

export function createRecordSupportUse({
  database,
  writeQueue,
}: Pick<ResourceDependencies, "database" | "writeQueue">): RecordSupportUse {
  /** When lines were written, by the caller and what it reads. */
  const known = new Map<string, number>();
  return async ({ contextValues: values, signal }, all) => {
    const reads = all.filter((read) => read !== undefined);
    // A call that joins the write of another has the locks of that, whose line says what is done.
    if (reads.length === 0 || joinedOf(values) !== undefined) return;
    const author = authorOf({ values });
    const { actorId, actorOrgId, method, narrowing, origin } = author;
    const keyOf = ({ orgId, requestId, path }: SupportRead): string => {
      const parts = [actorId, narrowing?.impersonatorId, origin.credentialId, orgId, requestId, method, path];
      return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
    };
    const isNew = (read: SupportRead): boolean => (known.get(keyOf(read)) ?? -Infinity) <= performance.now() - hourMs;
    const distinct = new Map(reads.filter(isNew).map((read) => [keyOf(read), read]));
    for (const [orgId, ofOrg] of Map.groupBy(distinct.values(), (read) => read.orgId)) {
      const startedAt = performance.now();
      await writeQueue.run({ orgId: actorOrgId ?? orgId, target: orgId, signal: () => signal }, () =>
        inTransaction(
          database,
          (db) =>
            writeInOrg(db, { org: { by: "id", value: orgId }, state: "any" }, author, (transaction) => {
              for (const read of ofOrg) transaction.record(toChange(read));
              return Promise.resolve();
            }),
          { signal: () => signal, remainingMs: () => undefined },
        ),
      );
      if (known.size >= maxKnown) known.clear();
      for (const read of ofOrg) known.set(keyOf(read), startedAt);
    }
  };
}

function toChange({ requestId, path }: SupportRead): Change {
  return { type: "SupportAccess", id: requestId, path, containerId: requestId, before: null, after: {} };
}
