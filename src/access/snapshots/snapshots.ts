// The snapshots that this server holds, one an org. A snapshot is used only at a revision that a read has confirmed which
// started after the request arrived: the read says how far the change log is, and a snapshot that is behind is first moved
// forward. So no decision is older than its request, on any server, without a clock or a message between servers.
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { advanceSnapshot } from "./advance-snapshot.ts";
import type { OrgSnapshot, OrgSnapshotOptions } from "../engine/org-snapshot.ts";
import { createLane } from "../lane.ts";
import { readSmallSnapshot, readSnapshot } from "./read-snapshot.ts";

export interface Snapshots {
  /**
   * The snapshot of an org at this revision or a later one.
   *
   * @throws ServiceError SERVICE_UNAVAILABLE when there is none to be had.
   */
  at(orgId: string, revision: string): OrgSnapshot | Promise<OrgSnapshot>;
  /** The snapshot of an org as it happens to be held; undefined when it is not. */
  held(orgId: string): OrgSnapshot | undefined;
}

export interface SnapshotsOptions extends Omit<OrgSnapshotOptions, "org"> {
  readonly database: Database;
  /** How many connections the database has for reads. Reading an org takes one as long as it lasts. */
  readonly readConnections: number;
  /** How much memory all snapshots together may take; those not used for longest go first. */
  readonly maxBytes: number;
}

interface Held {
  snapshot: OrgSnapshot | undefined;
  /** What it takes, as it was counted last. */
  bytes: number;
  /** What is being read; one at a time. */
  work: Promise<void> | undefined;
}

/** An org with more rows is large. Reading these takes some hundredths of a second. */
const maxRowsOfSmall = 20_000;

/** How many small orgs are read at once, if there are connections for it. */
const maxSmallReads = 2;

/** Each try reads what is there when it starts, so one that starts after the request is enough, and it may have to wait. */
const maxTries = 3;

export function createSnapshots({ database, readConnections, maxBytes, ...options }: SnapshotsOptions): Snapshots {
  /** In the order of their last use. */
  const held = new Map<string, Held>();
  let total = 0;
  // Of the connections for reads, one is left for others. Small orgs do not wait for a large one where that can be.
  const inSmallLane = createLane(Math.max(1, Math.min(maxSmallReads, readConnections - 2)));
  const inLargeLane = readConnections > 2 ? createLane(1) : inSmallLane;

  const read = async (orgId: string): Promise<OrgSnapshot | undefined> => {
    const small = await inSmallLane(() => readSmallSnapshot(database, orgId, options, maxRowsOfSmall));
    return small === "too large" ? inLargeLane(() => readSnapshot(database, orgId, options)) : small;
  };

  const refresh = async (orgId: string, entry: Held): Promise<void> => {
    const { snapshot } = entry;
    try {
      if (snapshot !== undefined && (await advanceSnapshot(database.reads, snapshot))) return;
    } catch (error) {
      // It may be between two revisions.
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

  const reach = async (orgId: string, revision: string, entry: Held): Promise<OrgSnapshot> => {
    for (let attempt = 1; attempt <= maxTries; attempt++) {
      entry.work ??= refresh(orgId, entry).finally(() => {
        entry.work = undefined;
      });
      await entry.work;
      if (entry.snapshot !== undefined && isAtLeast(entry.snapshot, revision)) {
        // Others may have needed its place already.
        if (held.get(orgId) === entry) count(entry, entry.snapshot.bytes);
        evict(orgId);
        return entry.snapshot;
      }
    }
    drop(orgId, entry);
    throw new ServiceError("SERVICE_UNAVAILABLE", "who may do what could not be read; try again");
  };

  return {
    held: (orgId) => held.get(orgId)?.snapshot,

    at(orgId, revision) {
      const entry = held.get(orgId) ?? { snapshot: undefined, bytes: 0, work: undefined };
      held.delete(orgId);
      held.set(orgId, entry);
      // While changes are being applied a snapshot may be between two of them only inside one turn of the event loop.
      if (entry.snapshot !== undefined && isAtLeast(entry.snapshot, revision)) return entry.snapshot;
      return reach(orgId, revision, entry);
    },
  };
}

function isAtLeast(snapshot: OrgSnapshot, revision: string): boolean {
  return snapshot.revision === revision || BigInt(snapshot.revision) >= BigInt(revision);
}
