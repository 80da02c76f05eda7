// The snapshots that this server holds, one for each org. A snapshot is used only at a revision that is confirmed by a read
// which started after the request arrived. The read returns the head of the change log, and a snapshot that is behind is
// advanced first. So no decision is older than its request, on any server, without a clock or messages between servers.
import pLimit from "p-limit";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { advanceSnapshot } from "./advance-snapshot.ts";
import type { OrgSnapshot, OrgSnapshotOptions } from "../engine/org-snapshot.ts";
import { readSmallSnapshot, readSnapshot } from "./read-snapshot.ts";

export interface Snapshots {
  /**
   * Returns the snapshot of an org at this revision or a later one.
   *
   * @throws ServiceError SERVICE_UNAVAILABLE when it cannot be brought to the revision.
   */
  at(orgId: string, revision: string): OrgSnapshot | Promise<OrgSnapshot>;
  /** Returns the snapshot of an org at whatever revision is in memory; undefined if it is not in memory. */
  held(orgId: string): OrgSnapshot | undefined;
}

export interface SnapshotsOptions extends Omit<OrgSnapshotOptions, "org"> {
  readonly database: Database;
  /** The number of database connections for reads. Reading an org occupies one until it ends. */
  readonly readConnections: number;
  /** The maximum memory of all snapshots together, in bytes. The least recently used are evicted first. */
  readonly maxBytes: number;
}

interface Held {
  snapshot: OrgSnapshot | undefined;
  /** The snapshot's memory when it was last counted. */
  bytes: number;
  /** The read in progress; at most one for each org. */
  work: Promise<void> | undefined;
}

/** The maximum number of rows of a small org. Reading that many takes some hundredths of a second. */
const maxRowsOfSmall = 20_000;

/** The maximum number of small orgs that are read concurrently, if there are enough connections. */
const maxSmallReads = 2;

/**
 * An attempt reads the state at its start, so one that starts after the request suffices. It may have to wait for an earlier
 * one.
 */
const maxTries = 3;

export function createSnapshots({ database, readConnections, maxBytes, ...options }: SnapshotsOptions): Snapshots {
  /** In the order of last use, least recent first. */
  const held = new Map<string, Held>();
  let total = 0;
  // One connection for reads is left for others. Small orgs do not wait for a large one if there are enough connections.
  const limitSmall = pLimit(Math.max(1, Math.min(maxSmallReads, readConnections - 2)));
  const limitLarge = readConnections > 2 ? pLimit(1) : limitSmall;

  const read = async (orgId: string): Promise<OrgSnapshot | undefined> => {
    const small = await limitSmall(() => readSmallSnapshot(database, orgId, options, maxRowsOfSmall));
    return small === "too large" ? limitLarge(() => readSnapshot(database, orgId, options)) : small;
  };

  const refresh = async (orgId: string, entry: Held): Promise<void> => {
    const { snapshot } = entry;
    try {
      if (snapshot !== undefined && (await advanceSnapshot(database.reads, snapshot))) return;
    } catch (error) {
      // The snapshot may be between two revisions.
      entry.snapshot = undefined;
      throw error;
    }
    entry.snapshot = undefined;
    entry.snapshot = await read(orgId);
  };

  const count = (entry: Held, bytes: number): void => {
    total += bytes - entry.bytes;
    entry.bytes = bytes;
  };

  const drop = (orgId: string, entry: Held): void => {
    if (held.get(orgId) !== entry) return;
    held.delete(orgId);
    count(entry, 0);
  };

  const evict = (used: string): void => {
    for (const [orgId, entry] of held) {
      if (total <= maxBytes) return;
      if (orgId !== used && entry.work === undefined) drop(orgId, entry);
    }
  };

  const bringTo = async (orgId: string, revision: string, entry: Held): Promise<OrgSnapshot> => {
    for (let attempt = 1; attempt <= maxTries; attempt++) {
      entry.work ??= refresh(orgId, entry).finally(() => {
        entry.work = undefined;
      });
      await entry.work;
      if (entry.snapshot !== undefined && isAtLeast(entry.snapshot, revision)) {
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
    held: (orgId) => held.get(orgId)?.snapshot,

    at(orgId, revision) {
      const entry = held.get(orgId) ?? { snapshot: undefined, bytes: 0, work: undefined };
      held.delete(orgId);
      held.set(orgId, entry);
      // A snapshot is between two revisions only within one turn of the event loop, so it can be used here.
      if (entry.snapshot !== undefined && isAtLeast(entry.snapshot, revision)) return entry.snapshot;
      return bringTo(orgId, revision, entry);
    },
  };
}

function isAtLeast(snapshot: OrgSnapshot, revision: string): boolean {
  return snapshot.revision === revision || BigInt(snapshot.revision) >= BigInt(revision);
}
