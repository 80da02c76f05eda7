// Snapshots of orgs as they were. What an org was at a revision does not change, so they are kept for the next questions about it, in a
// part of the memory of their own. Reading one costs more than to decide, so each org has its turn, and each customer.
import type { Moment } from "../../changes/past/find-moment.ts";
import type { Database } from "../../database/database.ts";
import { isStatementTimeout } from "../../database/failure.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type FairQueue, type QueuedCall, createFairQueue } from "../../scheduling/fair-queue.ts";
import type { OrgSnapshotOptions } from "../engine/org-snapshot.ts";
import { createKeptForAWhile } from "./kept-for-a-while.ts";
import { type LongReads, createLongReads } from "./long-reads.ts";
import type { RolesAt } from "./past-roles.ts";
import { type PastSnapshot, readPastSnapshot } from "./read-past-snapshot.ts";

export interface PastSnapshots {
  /**
   * Returns the snapshot of an org as it was. Nobody changes it.
   *
   * @param time of which the predefined roles are, in milliseconds. Default: that of the moment.
   * @param call that asks. If nobody waits for it any more before it is its turn, the org is not read.
   * @throws ServiceError REVISION_EXPIRED, RATE_LIMITED, RESOURCE_NOT_FOUND, SERVICE_UNAVAILABLE, DEADLINE_EXCEEDED when it takes too long.
   */
  readonly at: (call: PastCall, org: PastOrgKey, moment: Moment, time?: number) => Promise<PastSnapshot>;
}

type PastCall = Pick<QueuedCall, "orgId" | "signal">;

interface PastOrgKey {
  readonly id: string;
  readonly customerId: string;
}

export interface PastSnapshotsOptions extends Omit<OrgSnapshotOptions, "org"> {
  readonly database: Pick<Database, "reads">;
  /** Where those are noted that are read from far away. Default: nowhere. */
  readonly longReads?: Pick<LongReads, "note">;
  /** Default: the predefined roles are those of now. */
  readonly rolesAt?: RolesAt;
  /** The maximum memory of those that are kept, in bytes. One alone may have more while it is used. */
  readonly maxBytes: number;
  /** Where reads wait, with others of the past. */
  readonly turns?: FairQueue;
  /** How long reading one may take. Default: 30 s. */
  readonly maxReadMs?: number;
}

/** How long a read of the past may take, in milliseconds. */
export const maxPastMs = 30_000;

/** How long one is kept. What was erased from the log meanwhile is in it for that long. */
const keptMs = 60_000;

/** How many reads of the past run at once, each on a connection. */
const readsAtOnce = 2;

/**
 * Creates the queue in which reads of the past have their turns: one of a customer, however many orgs it has, so that its long
 * histories do not hold up those of others.
 */
export function createPastTurns(): FairQueue {
  return createFairQueue({ capacity: readsAtOnce, perTarget: 1, perOrg: 1, waitsFor: "an org to be read as it was" });
}

export function createPastSnapshots(given: PastSnapshotsOptions): PastSnapshots {
  const { database, turns = createPastTurns(), longReads = createLongReads(), maxBytes, maxReadMs = maxPastMs } = given;
  const { predefinedRoles, compileCondition } = given;
  const { rolesAt = () => Promise.resolve({ version: "", roles: predefinedRoles }) } = given;
  const kept = createKeptForAWhile<PastSnapshot>({ keptMs, maxBytes, bytesOf: ({ snapshot }) => snapshot.bytes });

  return {
    async at({ orgId: caller, signal }, { id, customerId }, moment, time = Date.parse(moment.time)) {
      const { version, roles } = await inTimeOfPast(() => rolesAt(time));
      const key = `${id} ${moment.revision} ${version}`;
      const found = kept.find(key);
      if (found !== undefined) return found;
      return turns.run({ orgId: caller, target: customerId, signal }, async () => {
        // Another call may have read it meanwhile.
        const known = kept.find(key);
        if (known !== undefined) return known;
        const ending = AbortSignal.timeout(maxReadMs);
        const either = AbortSignal.any([signal(), ending]);
        const options = { predefinedRoles: roles, compileCondition, longReads, signal: () => either };
        const read = await inTimeOfPast(() => readPastSnapshot(database, id, moment, options), ending);
        kept.keep(key, read);
        return read;
      });
    },
  };
}

/**
 * Runs what reads the past of an org.
 *
 * @param ending ends it after the time that it may take in all.
 * @throws ServiceError DEADLINE_EXCEEDED when that is over, or a statement takes too long. Another try would take as long, so it is not
 *   UNAVAILABLE, which clients try again.
 */
export async function inTimeOfPast<Result>(run: () => Promise<Result>, ending?: AbortSignal): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    if (!isStatementTimeout(cause) && !(ending?.aborted === true && cause === ending.reason)) throw cause;
    const message =
      "it takes too long to read the org as it was then; ask about a later moment, since which less has changed";
    throw new ServiceError("DEADLINE_EXCEEDED", message, { cause });
  }
}
