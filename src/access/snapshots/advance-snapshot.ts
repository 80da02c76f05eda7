import { setImmediate as nextTurn } from "node:timers/promises";
import type { Committed } from "../../database/commits.ts";
import { numberOf } from "../../changes/revision.ts";
import type { Database } from "../../database/database.ts";
import { isInThePast } from "../../database/partitions.ts";
import { type LogEntry, appliedTypes, applyEntry } from "../engine/loading/apply-entry.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { toLogEntry } from "./to-log-entry.ts";

interface AdvanceOptions {
  /** More entries than this take longer than to rebuild the snapshot. */
  readonly maxEntries?: number;
}

/** How many entries a page has, and how many bytes of their rows. */
const page = { lines: 1_000, bytes: 2_097_152 };

/** More entries than any revision has. */
const mostLines = 10_000;

/** How long entries are applied before other work on the event loop runs, in milliseconds. */
const turnMs = 4;

interface Line extends LogEntry {
  readonly revision: string;
  /** Whether it does not fit on the page, and has no rows. */
  readonly is_left_out: boolean;
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
    const read = await readRevisions(database, snapshot);
    if (read === undefined) return false;
    const { lines, isAll } = read;
    entries += lines.length;
    if (entries > maxEntries) return false;
    const revisions = Map.groupBy(lines, ({ revision }) => revision);
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
    if (isAll) return true;
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

const isAfterStart = `revision >= $2 and (revision > $2 or position = 0) and time > now() - interval '${maxAge}'`;

const typesWith = (read: string): string =>
  Object.entries(appliedTypes)
    .flatMap(([type, also]) => (also === read ? [`'${type}'`] : []))
    .join(", ");

/** Selects entries, with what snapshots read of their rows. A member may have 64 long labels, which they do not read. */
const select = `
  select revision, position, time, resource_type, resource_id,
    case when revision > $2 and resource_type in (${typesWith("before")}) then before - ${unread(["labels"])} end as before,
    case when revision = $2 then null
      when resource_type in (${typesWith("labels")}) then after - ${unread([])}
      when resource_type in (${typesWith("before")}, ${typesWith("")}) then after - ${unread(["labels"])}
    end as after
  from changes where org_id = $1 and ${isInThePast} and`;

const linesAfter = `
  select revision, time, resource_type, resource_id, is_left_out,
    case when not is_left_out then before end as before, case when not is_left_out then after end as after
  from (
    select found.*, coalesce(sum(coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0))
      over (order by revision, position rows between unbounded preceding and 1 preceding), 0) >= ${page.bytes} as is_left_out
    from (${select} ${isAfterStart} order by revision, position limit ${page.lines + 1}) as found
  ) as page order by revision, position`;

const linesOfLong = `
  select revision, time, resource_type, resource_id, before, after, false as is_left_out
  from (${select} ${isAfterStart} and revision <= $3 order by revision, position limit ${mostLines + 1}) as found
  order by revision, position`;

/** Returns the names of columns of jsonb. */
function unread(more: readonly string[]): string {
  return `array['display_name', 'description'${more.map((name) => `, '${name}'`).join("")}]`;
}

/**
 * Reads the revisions that follow that of a snapshot: as many as fit on a page, or one that is larger. Returns undefined if the log does not
 * have that of the snapshot.
 */
async function readRevisions(
  database: Database,
  { org, revision }: OrgSnapshot,
): Promise<{ readonly lines: readonly Line[]; readonly isAll: boolean } | undefined> {
  const [start, ...found] = await database.readPrepared<Line>("read_changes", linesAfter, [org.id, revision]);
  if (start?.revision !== revision) return undefined;
  const leftOut = found.findIndex((line) => line.is_left_out);
  const isAll = leftOut === -1 && found.length < page.lines;
  // The revision of the last one may continue on the next page.
  const unfinished = isAll ? undefined : found.at(leftOut)?.revision;
  const lines = found.filter((line) => line.revision !== unfinished && !line.is_left_out);
  if (isAll || lines.length > 0) return { lines: lines.map(toLogEntry), isAll };
  const values = [org.id, revision, unfinished];
  const [, ...long] = await database.readPrepared<Line>("read_long_revision", linesOfLong, values);
  return { lines: long.map(toLogEntry), isAll: false };
}
