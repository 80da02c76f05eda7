// Snapshots of orgs as they were. What an org was at a revision does not change, so they are kept for the next questions about it, in a
// part of the memory of their own. Reading one costs more than to decide, so each org has its turn.
import type { Moment } from "../../changes/past/find-moment.ts";
import type { Database } from "../../database/database.ts";
import { type QueuedCall, createFairQueue } from "../../scheduling/fair-queue.ts";
import type { OrgSnapshotOptions } from "../engine/org-snapshot.ts";
import { type PastSnapshot, readPastSnapshot } from "./read-past-snapshot.ts";

export interface PastSnapshots {
  /**
   * Returns the snapshot of an org as it was. Nobody changes it.
   *
   * @param call that asks. If nobody waits for it any more before it is its turn, the org is not read.
   * @throws ServiceError REVISION_EXPIRED, RATE_LIMITED, RESOURCE_NOT_FOUND, SERVICE_UNAVAILABLE.
   */
  readonly at: (call: PastCall, orgId: string, moment: Moment) => Promise<PastSnapshot>;
}

type PastCall = Pick<QueuedCall, "orgId" | "signal">;

export interface PastSnapshotsOptions extends Omit<OrgSnapshotOptions, "org"> {
  readonly database: Pick<Database, "reads">;
  /** The maximum memory of those that are kept, in bytes. One alone may have more while it is used. */
  readonly maxBytes: number;
}

/** How long one is kept. What was erased from the log meanwhile is in it for that long. */
const keptMs = 60_000;

/** How many orgs are read at once, each on a connection. The one of an org does not wait for that of another, large one. */
const readsAtOnce = 2;

interface Kept {
  readonly past: PastSnapshot;
  readonly readAt: number;
}

export function createPastSnapshots({ database, maxBytes, ...options }: PastSnapshotsOptions): PastSnapshots {
  const turns = createFairQueue({
    capacity: readsAtOnce,
    perTarget: 1,
    perOrg: 1,
    waitsFor: "an org to be read as it was",
  });
  /** By org and revision, in the order of last use. */
  const kept = new Map<string, Kept>();

  const find = (key: string): PastSnapshot | undefined => {
    const now = performance.now();
    for (const [each, { readAt }] of kept) if (now - readAt > keptMs) kept.delete(each);
    const found = kept.get(key);
    if (found === undefined) return undefined;
    kept.delete(key);
    kept.set(key, found);
    return found.past;
  };

  const keep = (key: string, past: PastSnapshot): void => {
    kept.set(key, { past, readAt: performance.now() });
    let bytes = 0;
    for (const each of kept.values()) bytes += each.past.snapshot.bytes;
    for (const [oldest, each] of kept) {
      if (bytes <= maxBytes) return;
      bytes -= each.past.snapshot.bytes;
      kept.delete(oldest);
    }
  };

  return {
    at({ orgId: caller, signal }, orgId, moment) {
      const key = `${orgId} ${moment.revision}`;
      const found = find(key);
      if (found !== undefined) return Promise.resolve(found);
      return turns.run({ orgId: caller, target: orgId, signal }, async () => {
        // Another call may have read it meanwhile.
        const known = find(key);
        if (known !== undefined) return known;
        const read = await readPastSnapshot(database, orgId, moment, { ...options, signal });
        keep(key, read);
        return read;
      });
    },
  };
}
