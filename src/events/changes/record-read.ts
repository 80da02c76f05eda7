// That somebody has read a log is in the log, as a list or by asking for the past: a line for each caller, by its member, impersonator and credential,
// and hour, which is written before anything is read.
import type { HandlerContext } from "@connectrpc/connect";
import { type SqlBool, sql } from "kysely";
import type { RecordLogRead } from "../../standard-methods/past/open-past.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns, singletonPath } from "../../paths/patterns.ts";
import { authorOf, callerOf } from "../../access/evaluation/call.ts";
import type { Change } from "../../changes/change.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { WriteLocks } from "../../changes/write-locks.ts";
import { secondsAfter } from "../../database/clock.ts";
import type { Installation } from "../../identity/installation.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import type { LogOwner } from "./log-owner.ts";

/** Records that the caller reads a log. @param path of the log. */
export type RecordRead = (context: HandlerContext, owner: LogOwner, path: string) => Promise<void>;

/** The same for the log of an org, for what reads it otherwise than as a list. */
export function createRecordLogRead(recordRead: RecordRead): RecordLogRead {
  return (context, { id, name }) =>
    recordRead(context, { kind: "org", id }, singletonPath("ChangeLog", formatPath(patterns.Org, name)));
}

const hourMs = 3_600_000;

/** So many callers and logs are known to have their line. */
const maxKnown = 10_000;

export function createRecordRead({
  database,
  installation,
  writeQueue,
}: Pick<ResourceDependencies, "database" | "installation" | "writeQueue">): RecordRead {
  /** When lines were written, also by other servers, by caller and log. */
  const known = new Map<string, number>();
  return async (context, owner, path) => {
    const { memberId, orgId: callerOrgId } = callerOf(context);
    const author = authorOf(context);
    const impersonatorId = author.narrowing?.impersonatorId ?? null;
    const { credentialId } = author.origin;
    const id = owner.kind === "platform" ? installation.systemOrgId : owner.id;
    const key = [memberId, impersonatorId, credentialId, owner.kind, id].join(" ");
    if ((known.get(key) ?? -Infinity) > performance.now() - hourMs) return;
    const change: Change = { type: "ChangeLog", id, path, containerId: id, before: null, after: {} };
    const call = { signal: () => context.signal, remainingMs: () => context.timeoutMs() };
    const startedAt = performance.now();
    const ageMs = await writeQueue.run({ orgId: callerOrgId, target: id, signal: call.signal }, () =>
      inTransaction(
        database,
        (db) =>
          writeInOrg(db, locksOf(installation, owner), author, async (transaction) => {
            const { lockTime, id: logId } = transaction.org;
            const isSame = sql<SqlBool>`
              resource_type = 'ChangeLog' and resource_id = ${id} and actor_id = ${memberId}
              and impersonator_id is not distinct from ${impersonatorId}::uuid
              and credential_id is not distinct from ${credentialId}::uuid and time > ${secondsAfter(lockTime, -hourMs / 1000)}`;
            const last = await db
              .selectFrom("changes")
              .select("time")
              .where("org_id", "=", logId)
              .where(isSame)
              .limit(1)
              .executeTakeFirst();
            if (last === undefined) transaction.record(change);
            return last === undefined ? 0 : lockTime.getTime() - last.time.getTime();
          }),
        call,
      ),
    );
    if (known.size >= maxKnown) known.clear();
    known.set(key, startedAt - ageMs);
  };
}

/** Returns what the line locks. The log of the platform is not of one org: its lines are in that of the org `system`. */
function locksOf(installation: Installation, owner: LogOwner): WriteLocks {
  if (owner.kind === "customer") return { logOfCustomer: { by: "id", value: owner.id } };
  const value = owner.kind === "org" ? owner.id : installation.systemOrgId;
  return { org: { by: "id", value }, state: "any" };
}
