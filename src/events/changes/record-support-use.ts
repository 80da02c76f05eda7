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
  reads: readonly SupportRead[],
) => Promise<void>;

const hourMs = 3_600_000;

/** So many callers, methods and paths are known to have their line. */
const maxKnown = 10_000;

/**
 * How many lines a request has in an hour with paths of their own. Others have the path of the org, and there is one for each method, whatever the
 * credential, so that who reads chooses no length of the log.
 */
const maxPaths = 100;

/** The lines of a request since a moment. */
interface Lines {
  readonly since: number;
  readonly count: number;
}

export function createRecordSupportUse({
  database,
  writeQueue,
}: Pick<ResourceDependencies, "database" | "writeQueue">): RecordSupportUse {
  /** When lines were written, by the caller and what it reads. */
  const known = new Map<string, number>();
  const lines = new Map<string, Lines>();
  const linesOf = (requestId: string): Lines => {
    const found = lines.get(requestId);
    const now = performance.now();
    return found !== undefined && found.since > now - hourMs ? found : { since: now, count: 0 };
  };
  const hasManyLines = ({ requestId }: SupportRead): boolean => linesOf(requestId).count >= maxPaths;
  const shorten = (read: SupportRead): SupportRead =>
    hasManyLines(read) ? { ...read, path: read.path.split("/", 3).join("/") } : read;

  return async ({ contextValues: values, signal }, all) => {
    // A call that joins the write of another has the locks of that, whose line says what is done.
    if (joinedOf(values) !== undefined) return;
    const reads = all.map(shorten);
    const author = authorOf({ values });
    const { actorId, actorOrgId, method, narrowing, origin } = author;
    const keyOf = (read: SupportRead): string => {
      const { orgId, requestId, path } = read;
      const by = hasManyLines(read) ? [] : [narrowing?.impersonatorId, origin.credentialId];
      const parts = [actorId, by, orgId, requestId, method, path];
      return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
    };
    const isNew = (read: SupportRead): boolean => (known.get(keyOf(read)) ?? -Infinity) <= performance.now() - hourMs;
    const distinct = new Map(reads.filter(isNew).map((read) => [keyOf(read), read]));
    // Before the lines are written, so that calls at once have no more than one alone.
    for (const { requestId } of distinct.values()) {
      const { since, count } = linesOf(requestId);
      put(lines, requestId, { since, count: count + 1 });
    }
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
      for (const [key, read] of distinct) if (read.orgId === orgId) put(known, key, startedAt);
    }
  };
}

/** Adds what is known last, and forgets what was known first. */
function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxKnown && oldest !== undefined) map.delete(oldest);
}

function toChange({ requestId, path }: SupportRead): Change {
  return { type: "SupportAccess", id: requestId, path, containerId: requestId, before: null, after: {} };
}
