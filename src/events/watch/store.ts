// The statements with which logs are followed.
import { sql } from "kysely";
import { clockMs, timeText } from "../../database/clock.ts";
import type { Database } from "../../database/database.ts";
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
  /** In their order. */
  readonly revisions: readonly LoggedRevision[];
  /** Whether more may follow. */
  readonly hasMore: boolean;
}

/** What follows a log reads so many entries for all streams, and as many bytes as a page of a list. */
const pageOfAll = 500;

/** Each stream keeps its own page for as long as its reader likes. */
const pageOfOne = { entries: 100, maxBytes: 131_072 };

/** More entries than any revision has. */
const mostEntries = 10_000;

/**
 * Reads whole revisions of an org that follow a position: as many as fit on a page, or one that is larger. Returns undefined if the log does
 * not have the position itself: it is older than the log, or of a history that was lost.
 */
export async function readRevisionsAfter(
  database: Database,
  orgId: string,
  position: LogPosition,
): Promise<LogPage | undefined> {
  const found = await readEntries(database, "follow_log", { orgId, ...position, limit: pageOfAll + 1 });
  if (found === undefined) return undefined;
  const page = toPage(found, pageOfAll);
  const revisions = page.revisions.filter(({ isComplete }) => isComplete);
  if (revisions.length > 0 || !page.hasMore) return { revisions, hasMore: page.hasMore };
  const long = { orgId, ...position, limit: mostEntries + 1, last: found[0]?.revision };
  const whole = await readEntries(database, "follow_long_revision", long);
  return whole && { ...toPage(whole, Infinity), hasMore: true };
}

/** A position in a log that may be within a revision. */
export interface EntryPosition extends LogPosition {
  /** The position of the last entry before it; undefined if it is after the revision. */
  readonly position?: number;
}

/**
 * Reads what follows a position on a page for one stream. The last of its revisions may have more entries, on the next page. Returns undefined
 * as `readRevisionsAfter`.
 */
export async function readPageAfter(
  database: Database,
  orgId: string,
  position: EntryPosition,
): Promise<LogPage | undefined> {
  const { entries, maxBytes } = pageOfOne;
  const name = position.position === undefined ? "read_log_of_stream" : "read_rest_of_revision";
  const found = await readEntries(database, name, { orgId, ...position, limit: entries + 1, maxBytes });
  return found && toPage(found, entries);
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
function toPage(found: readonly ChangeRow[], asked: number): LogPage {
  const leftOut = found.findIndex((row) => row.is_left_out);
  const hasMore = leftOut !== -1 || found.length >= asked;
  const rows = hasMore ? found.slice(0, leftOut) : found;
  const next = found[rows.length]?.revision;
  const revisions = [...Map.groupBy(rows, (row) => row.revision)].flatMap(([revision, [first, ...more]]) =>
    first === undefined ? [] : [{ revision, entries: [first, ...more] as const, isComplete: revision !== next }],
  );
  return { revisions, hasMore };
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
      where org_id = orgs.id and revision = ${revision}::uuid and position = 0 and ${sql.raw(isInThePast)}
    ) as time, (
      select revision from changes
      where org_id = orgs.id and ${sql.raw(isInThePast)} order by time, org_id, revision, position limit 1
    ) as oldest
    from orgs where id = ${orgId}`.execute(database.reads);
  return rows[0] ?? { time: null, oldest: null, head: "" };
}
