// The snapshots that this server holds, one for each org. A snapshot is used for a request only if a read of the database that
// started after the request arrived has confirmed it: the read of the head of the change log that comes with the request, or
// a read that advanced the snapshot since. So no decision is older than its request, on any server, without messages between
// servers. Whether a revision is older or newer than another one decides nothing: after a failover that loses transactions,
// the head can be behind a snapshot of the lost history.
import pLimit from "p-limit";
import type { Committed } from "../../database/commits.ts";
import type { LogHead } from "../../changes/revision.ts";
import type { Database } from "../../database/database.ts";
import { isDatabaseUnavailable } from "../../database/failure.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { advanceSnapshot, followCommit } from "./advance-snapshot.ts";
import type { OrgSnapshot, OrgSnapshotOptions } from "../engine/org-snapshot.ts";
import type { SnapshotFiles } from "./files/snapshot-files.ts";
import { type OwnSnapshots, createOwnSnapshots } from "./own-snapshots.ts";
import { readSmallSnapshot, readSnapshot } from "./read-snapshot.ts";

export interface Snapshots {
  /**
   * Returns the snapshot of an org at this head of its change log, or as a later read found the org.
   *
   * @throws ServiceError SERVICE_UNAVAILABLE when the org cannot be read.
   */
  at(orgId: string, head: LogHead): OrgSnapshot | Promise<OrgSnapshot>;
  /** Returns the snapshot of an org at whatever revision is in memory; undefined if it is not in memory. */
  held(orgId: string): OrgSnapshot | undefined;
  /** Returns the last moment, by this process's own clock, at which a read has shown that it was current; undefined if it is not in memory. */
  confirmedAt(orgId: string): number | undefined;
  /**
   * Reads a snapshot of an org that is the caller's own, and that only the caller advances; undefined if there is no such org. It counts
   * against the memory of all until it is released.
   *
   * @throws ServiceError RATE_LIMITED when such snapshots have their part of the memory.
   */
  readOwn(orgId: string): Promise<OrgSnapshot | undefined>;
  release(snapshot: OrgSnapshot): void;
  /** Advances the snapshot of an org by what this server has committed, so that the next call need not read that. */
  follow(committed: Committed): void;
  /** Returns the snapshots in memory of at least this size, in bytes. */
  heldFrom(bytes: number): OrgSnapshot[];
  readonly activity: SnapshotActivity;
}

/** What is held, and how calls have found the snapshots that they needed. */
export interface SnapshotActivity {
  readonly count: () => number;
  readonly bytes: () => number;
  readonly maxBytes: number;
  readonly uses: {
    /** Calls that found the snapshot as they needed it. */
    current: number;
    /** Reads that advanced a snapshot, took it from a file, or read its org. */
    advanced: number;
    loaded: number;
    read: number;
  };
  evictions: number;
}

export interface SnapshotsOptions extends Omit<OrgSnapshotOptions, "org"> {
  readonly database: Database;
  /** The number of database connections for reads. Reading an org occupies one until it ends. */
  readonly readConnections: number;
  /** The maximum memory of all snapshots together, in bytes. The least recently used are evicted first. */
  readonly maxBytes: number;
  /** Where snapshots are looked for before their orgs are read. */
  readonly files?: Pick<SnapshotFiles, "load" | "remove">;
}

interface Held {
  snapshot: OrgSnapshot | undefined;
  /**
   * When the last read that built or advanced the snapshot started, by this process's own clock; or, if it was advanced by a commit
   * of this server, a time at which the org was locked for that.
   */
  readAt: number;
  /** When the last read of the head started that found the snapshot's revision, by the same clock. */
  matchedAt: number;
  /** The snapshot's memory when it was last counted. */
  bytes: number;
  /** The read in progress; at most one for each org. */
  work: Promise<void> | undefined;
}

/** The maximum number of rows of a small org. Reading that many takes some hundredths of a second. */
const maxRowsOfSmall = 20_000;

/** The maximum number of small orgs that are read concurrently, if there are enough connections. */
const maxSmallReads = 2;

/** The part of the memory that snapshots of callers of this module may have. */
const shareOfOwn = 0.5;

/** What is left for all others, which have `total`. A single snapshot of a caller may have more than the part of all of them. */
function roomBeside(total: number, own: Pick<OwnSnapshots<OrgSnapshot>, "bytes">, maxBytes: number): number {
  const least = maxBytes * (1 - shareOfOwn);
  // Those of callers are not summed after each commit.
  return total <= least ? least : Math.max(maxBytes - own.bytes(), least);
}

/** A read that starts after the request suffices. It may have to wait for one that started before. */
const maxTries = 3;

/** Applying an entry takes as long as reading so many bytes of a snapshot from the tables. */
const bytesOfEntry = 1_500;

export function createSnapshots(snapshotsOptions: SnapshotsOptions): Snapshots {
  const { database, readConnections, maxBytes, files, ...options } = snapshotsOptions;
  /** In the order of last use, least recent first. */
  const held = new Map<string, Held>();
  let total = 0;
  const sizes = { count: () => held.size + own.count(), bytes: () => total + own.bytes(), maxBytes };
  const activity: SnapshotActivity = { ...sizes, uses: { current: 0, advanced: 0, loaded: 0, read: 0 }, evictions: 0 };
  const read = createReadOrg(database, readConnections, options);
  const own = createOwnSnapshots(maxBytes * shareOfOwn, read, () => evict(""));

  const refresh = async (orgId: string, entry: Held): Promise<void> => {
    let readAt = performance.now();
    let unusable: string | undefined;
    let use: keyof SnapshotActivity["uses"] = "advanced";
    let snapshot = await advance(database, entry);
    if (snapshot === undefined) {
      const loaded = await files?.load(orgId);
      readAt = performance.now();
      unusable = loaded && (await advanceLoaded(database, loaded));
      use = "loaded";
      snapshot = unusable === undefined ? loaded : undefined;
    }
    if (snapshot === undefined) {
      readAt = performance.now();
      snapshot = await read(orgId);
      use = "read";
      // The database answers, so the reason is in the file, which would be as little use after the next start.
      if (unusable !== undefined) void files?.remove(orgId, unusable);
    }
    entry.snapshot = snapshot;
    entry.readAt = readAt;
    activity.uses[use]++;
  };

  const count = (entry: Held, bytes: number): void => {
    total += bytes - entry.bytes;
    entry.bytes = bytes;
  };

  const drop = (orgId: string, entry: Held): void => {
    if (held.get(orgId) === entry && held.delete(orgId)) count(entry, 0);
  };

  const evict = (used: string): void => {
    const room = roomBeside(total, own, maxBytes);
    for (const [orgId, entry] of held) {
      if (total <= room) return;
      if (orgId === used || entry.work !== undefined) continue;
      drop(orgId, entry);
      activity.evictions++;
    }
  };

  const bringTo = async (orgId: string, head: LogHead, entry: Held): Promise<OrgSnapshot> => {
    for (let attempt = 1; attempt <= maxTries; attempt++) {
      entry.work ??= refresh(orgId, entry).finally(() => void (entry.work = undefined));
      await entry.work;
      if (isConfirmed(entry, head)) {
        // The entry may have been evicted.
        if (held.get(orgId) === entry) count(entry, entry.snapshot.bytes);
        evict(orgId);
        return entry.snapshot;
      }
    }
    drop(orgId, entry);
    throw new ServiceError("SERVICE_UNAVAILABLE", "failed to read the roles and role bindings of the org; try again");
  };

  return {
    activity,
    held: (orgId) => held.get(orgId)?.snapshot,
    confirmedAt: (orgId) => confirmedAt(held.get(orgId)),
    readOwn: own.read,
    release: own.release,

    follow(committed) {
      const { orgId, lockedAt } = committed;
      const entry = held.get(orgId);
      // A read in progress would find the snapshot further than its own entries.
      if (entry?.snapshot === undefined || entry.work !== undefined) return;
      try {
        if (!followCommit(entry.snapshot, committed)) return;
      } catch {
        // The snapshot may be between two revisions. The next call reads the org, and fails if the reason is in the entries.
        drop(orgId, entry);
        return;
      }
      entry.readAt = Math.max(entry.readAt, lockedAt);
      count(entry, entry.snapshot.bytes);
      evict(orgId);
    },

    heldFrom: (minBytes) =>
      [...held.values()].flatMap(({ snapshot, bytes }) =>
        snapshot !== undefined && bytes >= minBytes ? [snapshot] : [],
      ),

    at(orgId, head) {
      const entry = held.get(orgId) ?? { snapshot: undefined, readAt: 0, matchedAt: 0, bytes: 0, work: undefined };
      held.delete(orgId);
      held.set(orgId, entry);
      // A snapshot is between two revisions only within one turn of the event loop, so it can be used here.
      if (!isConfirmed(entry, head)) return bringTo(orgId, head, entry);
      if (entry.snapshot.revision === head.revision) entry.matchedAt = Math.max(entry.matchedAt, head.readAt);
      activity.uses.current++;
      return entry.snapshot;
    },
  };
}

/** Creates the function that reads the snapshot of an org; undefined if there is no such org. */
function createReadOrg(
  database: Database,
  readConnections: number,
  options: Omit<OrgSnapshotOptions, "org">,
): (orgId: string) => Promise<OrgSnapshot | undefined> {
  // One connection for reads is left for others. Small orgs do not wait for a large one if there are enough connections.
  const limitSmall = pLimit(Math.max(1, Math.min(maxSmallReads, readConnections - 2)));
  const limitLarge = readConnections > 2 ? pLimit(1) : limitSmall;

  return async (orgId) => {
    const small = await limitSmall(() => readSmallSnapshot(database, orgId, options, maxRowsOfSmall));
    return small === "too large" ? limitLarge(() => readSnapshot(database, orgId, options)) : small;
  };
}

/**
 * Advances what is held of an org. Returns undefined if that must be read again. Without an answer of the database, it stays where it is; other
 * failures may leave it between two revisions.
 */
async function advance(database: Database, entry: Held): Promise<OrgSnapshot | undefined> {
  const { snapshot } = entry;
  try {
    entry.snapshot = snapshot !== undefined && (await advanceSnapshot(database, snapshot)) ? snapshot : undefined;
  } catch (error) {
    if (!isDatabaseUnavailable(error)) entry.snapshot = undefined;
    throw error;
  }
  return entry.snapshot;
}

function confirmedAt(entry: Held | undefined): number | undefined {
  return entry?.snapshot && Math.max(entry.readAt, entry.matchedAt);
}

/** Advances the snapshot of a file, if the change log has its revision. Otherwise returns why not. */
async function advanceLoaded(database: Database, loaded: OrgSnapshot): Promise<string | undefined> {
  try {
    const isAdvanced = await advanceSnapshot(database, loaded, { maxEntries: loaded.bytes / bytesOfEntry });
    return isAdvanced ? undefined : "the change log does not continue there, or has too many entries since";
  } catch {
    return "it could not be advanced";
  }
}

function isConfirmed(entry: Held, head: LogHead): entry is Held & { snapshot: OrgSnapshot } {
  const { snapshot, readAt } = entry;
  return snapshot !== undefined && (snapshot.revision === head.revision || readAt >= head.readAt);
}
