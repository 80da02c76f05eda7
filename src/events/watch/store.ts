// The statements with which logs are followed.
import { sql } from "kysely";
import { clockMs, timeText } from "../../database/clock.ts";
import type { Database } from "../../database/database.ts";
import { isInThePast } from "../../database/partitions.ts";
import { type ChangeRow, selectEntriesAfter } from "../changes/store.ts";

/** A place in the log of an org. */
export interface LogPosition {
  readonly revision: string;
  /** A time that is not later than that of the revision. */
  readonly since: Date | string;
}

/** The entries of a revision, in their order. */
export interface LoggedRevision {
  readonly revision: string;
  readonly entries: readonly [ChangeRow, ...ChangeRow[]];
}

interface LogPage {
  /** Whole revisions, in their order. */
  readonly revisions: readonly LoggedRevision[];
  /** Whether more may follow. */
  readonly hasMore: boolean;
}

/** How much of a log one statement reads: entries, and bytes of their rows before and after. */
interface PageSize {
  readonly name: string;
  readonly entries: number;
  readonly bytes?: number;
}

/** What follows a log reads it for all streams. */
const pageOfAll: PageSize = { name: "follow_log", entries: 500 };

/** Each stream keeps its own page for as long as its reader likes. */
export const pageOfOne: PageSize = { name: "read_log_of_stream", entries: 100, bytes: 131_072 };

/** More entries than any revision has. */
const mostEntries = 10_000;

/**
 * Reads the revisions of an org that follow a position. Returns undefined if the log does not have the position itself: it is
 * older than the log, or of a history that was lost.
 */
export async function readRevisionsAfter(
  database: Database,
  orgId: string,
  position: LogPosition,
  size: PageSize = pageOfAll,
): Promise<LogPage | undefined> {
  const [start, ...found] = await readEntries(database, orgId, position, size);
  if (start?.revision !== position.revision) return undefined;
  const leftOut = found.findIndex((row) => row.is_left_out);
  const hasMore = leftOut !== -1 || found.length === size.entries;
  if (!hasMore) return { revisions: toRevisions(found), hasMore };
  // The last revision may continue after the page.
  const revisions = toRevisions(leftOut === -1 ? found : found.slice(0, leftOut)).slice(0, -1);
  if (revisions.length > 0) return { revisions, hasMore };
  const [, ...whole] = await readEntries(database, orgId, position, size, found[0]?.revision);
  return { revisions: toRevisions(whole), hasMore };
}

/** @param last the revision of which all entries are read, however many. */
function readEntries(
  database: Database,
  orgId: string,
  { revision, since }: LogPosition,
  size: PageSize,
  last?: string,
): Promise<ChangeRow[]> {
  const [name, limit] = last === undefined ? [size.name, size.entries] : ["follow_long_revision", mostEntries];
  const selected = selectEntriesAfter(orgId, revision, since, limit + 1, last, size.bytes);
  const { sql: text, parameters } = selected.compile(database.reads);
  return database.readPrepared<ChangeRow>(name, text, parameters);
}

function toRevisions(rows: readonly ChangeRow[]): LoggedRevision[] {
  return [...Map.groupBy(rows, (row) => row.revision)].flatMap(([revision, [first, ...more]]) =>
    first === undefined ? [] : [{ revision, entries: [first, ...more] as const }],
  );
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
