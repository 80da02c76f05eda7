// The statements with which logs are followed.
import { sql } from "kysely";
import { clockMs, timeText } from "../../database/clock.ts";
import type { Database } from "../../database/database.ts";
import { numberOf } from "../../changes/revision.ts";
import { isInThePast } from "../../database/partitions.ts";
import { type ChangeRow, type EntriesAfter, selectEntriesAfter } from "../changes/store.ts";

/** A place in the log of an org. */
export interface LogPosition {
  readonly revision: string;
  /** A time that is not later than that of the revision. */
  readonly since: Date | string;
}

/** Entries of a revision that follow each other. */
export interface LoggedRevision {
  readonly revision: string;
  readonly entries: readonly [ChangeRow, ...ChangeRow[]];
  /** Whether the last of them is that of the revision. */
  readonly isComplete: boolean;
}

interface LogPage {
  /** In their order. The last one may have more entries, on the next page. */
  readonly revisions: readonly LoggedRevision[];
  /** Whether more may follow. */
  readonly hasMore: boolean;
  /** Whether what follows them is not in the log, though later entries are. */
  readonly hasGap: boolean;
}

/** A position in a log that may be within a revision. */
export interface EntryPosition extends LogPosition {
  /** The position of the last entry before it; undefined if it is after the revision. */
  readonly position?: number;
}

/** Returns the position after what was read of a revision. */
export function positionAfter({ revision, entries, isComplete }: LoggedRevision): EntryPosition {
  const since = entries[0].time_text;
  return isComplete ? { revision, since } : { revision, since, position: (entries.at(-1) ?? entries[0]).position };
}

/** How much is read at once, in entries and in bytes of the rows before and after, and how the statements are called. */
const pages = {
  /** What follows a log reads for all its streams. */
  all: { entries: 500, maxBytes: 1_048_576, names: { after: "follow_log", within: "follow_rest_of_revision" } },
  /** Each stream keeps its own page for as long as its reader likes. */
  one: { entries: 100, maxBytes: 131_072, names: { after: "read_log_of_stream", within: "read_rest_of_revision" } },
};

/**
 * Reads what follows a position, as much as fits on a page for one stream or for all of a log. Returns undefined if the log does not have the
 * position itself: it is older than the log, or of a history that was lost.
 */
export async function readPageAfter(
  database: Database,
  orgId: string,
  position: EntryPosition,
  of: keyof typeof pages,
): Promise<LogPage | undefined> {
  const { entries, maxBytes, names } = pages[of];
  const name = position.position === undefined ? names.after : names.within;
  const found = await readEntries(database, name, { orgId, ...position, limit: entries + 1, maxBytes });
  if (found === undefined) return undefined;
  const gap = findGap(position, found);
  return gap === undefined ? toPage(found, entries) : toPage(found.slice(0, gap + 1), gap + 1, gap);
}

/**
 * Returns the index of the first entry to which those before it do not lead; undefined if the log is whole. The numbers of revisions and the
 * positions in them have no gaps. That the last entries of a revision are missing only the chain of hashes shows.
 */
function findGap(after: EntryPosition, found: readonly ChangeRow[]): number | undefined {
  let number = numberOf(after.revision);
  let { position } = after;
  for (const [index, row] of found.entries()) {
    const ofRow = numberOf(row.revision);
    const isNext =
      ofRow === number
        ? position !== undefined && row.position === position + 1
        : ofRow === number + 1n && row.position === 0;
    if (!isNext) return index;
    [number, position] = [ofRow, row.position];
  }
  return undefined;
}

/** Returns undefined if the log does not have the revision that they follow. */
async function readEntries(
  database: Database,
  name: string,
  after: EntriesAfter,
): Promise<readonly ChangeRow[] | undefined> {
  const { sql: text, parameters } = selectEntriesAfter(after).compile(database.reads);
  const [start, ...found] = await database.readPrepared<ChangeRow>(name, text, parameters);
  return start?.revision === after.revision ? found : undefined;
}

/**
 * @param found at least as many entries as were asked for, or all that follow. The first that does not fit on the page tells whether the revision
 *   of the last one that does is complete.
 */
function toPage(found: readonly ChangeRow[], asked: number, gap?: number): LogPage {
  const leftOut = found.findIndex((row) => row.is_left_out);
  const hasMore = leftOut !== -1 || found.length >= asked;
  const rows = hasMore ? found.slice(0, leftOut) : found;
  const next = found[rows.length]?.revision;
  const revisions = [...Map.groupBy(rows, (row) => row.revision)].flatMap(([revision, [first, ...more]]) =>
    first === undefined ? [] : [{ revision, entries: [first, ...more] as const, isComplete: revision !== next }],
  );
  return { revisions, hasMore, hasGap: gap !== undefined && rows.length === gap };
}

/** The heads of several logs, as of one point in time. */
export interface FollowedHeads {
  /** Returns the revision of an org; undefined if there is no such org. */
  readonly of: (orgId: string) => string | undefined;
  /** When the read started, by `performance.now()`. */
  readonly readAt: number;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

/** Reads the heads of the logs of orgs, in one statement: what one of them shows was not committed before what another does not show. */
export async function readHeads(database: Database, orgIds: readonly string[]): Promise<FollowedHeads> {
  const readAt = performance.now();
  const { sql: text } = sql`
    select ${clockMs} as now, coalesce((
      select jsonb_object_agg(id, revision) from orgs where id = any(${null}::uuid[])
    ), '{}') as revisions`.compile(database.reads);
  const [row] = await database.readPrepared<{ now: number; revisions: Readonly<Record<string, string>> }>(
    "read_followed_heads",
    text,
    [orgIds],
  );
  const { now = 0, revisions = {} } = row ?? {};
  return { of: (orgId) => revisions[orgId], readAt, now };
}

export interface LogStart {
  /** The time of a revision; null if the log does not have it. */
  readonly time: string | null;
  /** The oldest revision that the log has; null if it has none. */
  readonly oldest: string | null;
  readonly head: string;
}

/** Finds a revision in the log of an org. */
export async function findStart(database: Database, orgId: string, revision: string): Promise<LogStart> {
  const { rows } = await sql<LogStart>`
    select revision as head, (
      select ${timeText(sql`time`)} from changes
      where customer_id = orgs.customer_id and org_id = orgs.id and revision = ${revision}::uuid and position = 0 and ${sql.raw(isInThePast)}
    ) as time, (
      select revision from changes
      where customer_id = orgs.customer_id and org_id = orgs.id and ${sql.raw(isInThePast)}
      order by time, org_id, revision, position limit 1
    ) as oldest
    from orgs where id = ${orgId}`.execute(database.reads);
  return rows[0] ?? { time: null, oldest: null, head: "" };
}
