import { setImmediate as nextTurn } from "node:timers/promises";
import type { Committed } from "../../database/commits.ts";
import { numberOf } from "../../changes/revision.ts";
import type { Database } from "../../database/database.ts";
import { isInThePast } from "../../database/partitions.ts";
import { type LogEntry, applyEntry } from "../engine/loading/apply-entry.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { toLogEntry } from "./to-log-entry.ts";

interface AdvanceOptions {
  /** More entries than this take longer than to rebuild the snapshot. */
  readonly maxEntries?: number;
}

/** The maximum number of entries that one statement reads: more than any single revision has. */
const maxLines = 10_000;

/** How long entries are applied before other work on the event loop runs, in milliseconds. */
const turnMs = 4;

interface Line extends LogEntry {
  readonly revision: string;
}

/**
 * Advances a snapshot to the head of its org's change log.
 *
 * @returns false when the log does not have the snapshot's revision, does not continue there or has too many entries after it,
 *   so that the snapshot must be rebuilt. The log lacks it after the database has lost its last transactions.
 */
export async function advanceSnapshot(
  database: Database,
  snapshot: OrgSnapshot,
  { maxEntries = Infinity }: AdvanceOptions = {},
): Promise<boolean> {
  let endOfTurn = performance.now() + turnMs;
  let entries = 0;
  for (;;) {
    const [start, ...lines] = await readLines(database, snapshot);
    if (start?.revision !== snapshot.revision) return false;
    entries += lines.length;
    if (entries > maxEntries) return false;
    // The last revision on a full page may continue on the next page.
    const isWhole = lines.length < maxLines;
    const unfinished = isWhole ? undefined : lines.at(-1)?.revision;
    const revisions = Map.groupBy(
      lines.filter(({ revision }) => revision !== unfinished),
      ({ revision }) => revision,
    );
    for (const [revision, changes] of revisions) {
      // Yields only between revisions, because the snapshot must not be read within one.
      if (performance.now() > endOfTurn) {
        await nextTurn();
        endOfTurn = performance.now() + turnMs;
      }
      if (numberOf(revision) !== numberOf(snapshot.revision) + 1n) return false;
      const applied = snapshot.readHold.change(() => {
        for (const change of changes) applyEntry(snapshot, change);
        snapshot.advanceTo(revision);
      });
      // Waits for reads in steps.
      if (applied !== undefined) await applied;
    }
    if (isWhole) return true;
    if (revisions.size === 0) return false;
  }
}

/** More entries than this are read from the log, in turns. */
const maxFollowed = 200;

/**
 * Advances a snapshot by what this server has committed: it has the entries in memory, and has read the revision before them under
 * the lock of the org, so nothing lies between.
 *
 * @returns false when the snapshot stays as it is, because it is at another revision or is read in steps, or it would take long.
 */
export function followCommit(snapshot: OrgSnapshot, { before, entries }: Committed): boolean {
  if (snapshot.revision !== before || snapshot.readHold.isHeld() || entries.length > maxFollowed) return false;
  for (const [index, entry] of entries.entries()) {
    applyEntry(snapshot, toLogEntry(entry));
    if (entries[index + 1]?.revision !== entry.revision) snapshot.advanceTo(entry.revision);
  }
  return true;
}

/** Older partitions of the log are not searched: a snapshot that has not moved for that long is rebuilt. Nor are those of later months. */
const maxAge = "1 month";

const linesAfter = `
  select revision, time, resource_type, resource_id, before, after from changes
  where org_id = $1 and revision >= $2 and (revision > $2 or position = 0) and time > now() - interval '${maxAge}'
    and ${isInThePast}
  order by revision, position limit ${maxLines + 1}`;

async function readLines(database: Database, { org, revision }: OrgSnapshot): Promise<Line[]> {
  const lines = await database.readPrepared<Line>("read_changes", linesAfter, [org.id, revision]);
  return lines.map(toLogEntry);
}
