// The job that writes the snapshots of large orgs to files, and removes the files of orgs that are gone.
import type { Logger } from "pino";
import type { Snapshots } from "../access/snapshots/current-snapshots.ts";
import type { SnapshotFiles } from "../access/snapshots/files/snapshot-files.ts";
import type { Database } from "../database/database.ts";
import { waitAtMost } from "../timers/wait-at-most.ts";
import { type Found, type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface SnapshotFilesJobOptions {
  readonly database: Database;
  readonly snapshots: Snapshots;
  readonly files: SnapshotFiles;
  readonly intervalMs: number;
  /** How long files may be written when the server ends. */
  readonly closeMs: number;
  readonly logger: Logger;
}

/** The size from which an org takes more than a tenth of a second to read: some 10,000 members. */
const minBytes = 2 * 1_048_576;

/** How long the disk may take for what has been written when that time is over. */
const slowDiskMs = 2_000;

/** When the server ends, files are written that would take the next one some milliseconds longer to move forward. */
const atEnd = { revisions: 100, afterMs: 0, anyAfterMs: 3_600_000 };

export function createSnapshotFilesJob(options: SnapshotFilesJobOptions): PeriodicJob {
  const { database, snapshots, files, intervalMs, closeMs, logger } = options;

  const existing = async (orgIds: readonly string[]): Promise<Set<string>> => {
    if (orgIds.length === 0) return new Set();
    const rows = await database.reads.selectFrom("orgs").select("id").where("id", "in", orgIds).execute();
    return new Set(rows.map(({ id }) => id));
  };

  const find = async (): Promise<Found<string>> => {
    const held = snapshots.heldFrom(minBytes);
    const orgIds = held.map(({ org }) => org.id);
    const found = await existing([...orgIds, ...(await files.orgIds())]);
    await files.tidy(found, new Set(orgIds));
    const due = held.filter((snapshot) => found.has(snapshot.org.id) && files.isDue(snapshot));
    return { items: due.map(({ org }) => org.id) };
  };

  const work = async (orgId: string, signal: AbortSignal): Promise<number> => {
    const snapshot = snapshots.held(orgId);
    if (snapshot === undefined) return 0;
    await files.save(snapshot, () => signal.aborted);
    return 1;
  };

  const job = createPeriodicJob({
    find,
    work,
    intervalMs,
    logger,
    failure: "failed to keep files of access snapshots",
  });

  const saveAll = async (): Promise<void> => {
    const endMs = performance.now() + closeMs;
    await job.close();
    const isOver = (): boolean => performance.now() > endMs;
    for (const snapshot of snapshots.heldFrom(minBytes)) {
      if (!isOver() && files.isDue(snapshot, atEnd)) await files.save(snapshot, isOver);
    }
  };

  return {
    ...job,
    close: () => waitAtMost(closeMs + slowDiskMs, saveAll()),
  };
}
