// Finds a moment in the history of an org, by a revision or by a time.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { timeText } from "../../database/clock.ts";
import type { Schema } from "../../database/schema.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { isRevision, numberOf } from "../revision.ts";

/** A revision of an org. */
interface RevisionTime {
  readonly revision: string;
  /** When it was made: `2029-12-31T23:59:59.000001Z`. */
  readonly time: string;
}

/** A revision of an org that its log has, or that is its head. */
export interface Moment extends RevisionTime {
  /** When the head was made. */
  readonly head_time: string;
}

interface Found {
  readonly head: string;
  readonly head_time: string;
  /** Null if the log has nothing of the org any more. */
  readonly oldest: string | null;
  readonly oldest_time: string | null;
  /** Null if the log does not have what is asked for. */
  readonly revision: string | null;
  readonly time: string | null;
}

/**
 * Returns a revision of the history of an org.
 *
 * @param field of the request that holds it, for errors.
 * @throws ServiceError FIELD_INVALID for one that is not in the history or later than its head, REVISION_EXPIRED for one that is too old,
 *   RESOURCE_NOT_FOUND if there is no such org any more.
 */
export async function findRevision(
  db: Kysely<Schema>,
  orgId: string,
  revision: string,
  field: string,
): Promise<Moment> {
  if (!isRevision(revision)) {
    throw invalidField(
      field,
      "must be a revision of the Org, such as 00000000-0000-0732-9f3c-5b21c7e40d18",
      "revision",
    );
  }
  const found = await find(db, orgId, sql`revision = ${revision} and position = 0`);
  if (found.revision !== null && found.time !== null) return { revision, time: found.time, head_time: found.head_time };
  const { head, head_time, oldest } = found;
  if (head === revision) return { revision, time: head_time, head_time };
  if (numberOf(revision) < numberOf(oldest ?? head)) throw tooOld(`the revision ${revision}`, found);
  const description = `must be a revision in the history of the Org, whose latest is ${head}: it is of another Org, is later, or was lost when the database was restored or failed over`;
  throw invalidField(field, description, "revision");
}

/**
 * Returns the revision that an org had at a time.
 *
 * @param time with microseconds, as `Moment` has it.
 * @throws ServiceError REVISION_EXPIRED for a time before what the log has, RESOURCE_NOT_FOUND.
 */
export async function findRevisionAt(db: Kysely<Schema>, orgId: string, time: string): Promise<Moment> {
  const found = await find(db, orgId, sql`time <= ${time}::timestamptz`);
  const { head, head_time, revision } = found;
  // Texts of this form are in the order of the times.
  if (head_time <= time) return { revision: head, time: head_time, head_time };
  if (revision !== null && found.time !== null) return { revision, time: found.time, head_time };
  throw tooOld(time, found);
}

async function find(db: Kysely<Schema>, orgId: string, condition: RawBuilder<unknown>): Promise<Found> {
  const { rows: heads } = await sql<{ head_time: string }>`
    select ${timeText(sql`revision_time`)} as head_time from orgs where id = ${orgId}`.execute(db);
  const [org] = heads;
  if (org === undefined) throw gone(orgId);
  const entry = (where: RawBuilder<unknown>, order: RawBuilder<unknown>) => sql`
    left join lateral (
      select revision, ${timeText(sql`time`)} as time from changes
      where customer_id = orgs.customer_id and org_id = orgs.id and ${where} and ${isKept(org)}
      order by ${order} limit 1
    )`;
  const { rows } = await sql<Found>`
    select orgs.revision as head, ${timeText(sql`orgs.revision_time`)} as head_time,
      kept.revision as oldest, kept.time as oldest_time, found.revision, found.time
    from orgs
    ${entry(sql`true`, sql`changes.time, changes.revision`)} as kept on true
    ${entry(condition, sql`changes.time desc, changes.revision desc`)} as found on true
    where orgs.id = ${orgId}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw gone(orgId);
  return row;
}

function gone(orgId: string): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", `there is no org @${orgId}`);
}

const dayMs = 86_400_000;

/** How far the clock of the database may have been set back. */
const skewMs = 31 * dayMs;

/**
 * The condition of all entries that an org has. The partitions of later months are left out, and as a value, when the statement is planned:
 * for each partition that is not, a plan takes a millisecond longer.
 *
 * @param of when its head was made. What is written meanwhile is a little later.
 */
export function isKept({ head_time }: Pick<Moment, "head_time">): RawBuilder<SqlBool> {
  return sql<SqlBool>`time < ${shifted(head_time, skewMs)}::timestamptz`;
}

/** The condition of entries up to a moment, and of no later partitions than are needed. */
export function isUntil({ revision, time }: Moment): RawBuilder<SqlBool> {
  return sql<SqlBool>`revision <= ${revision} and time <= ${shifted(time, skewMs)}::timestamptz`;
}

/** The condition of entries after a moment, in no earlier partitions than are needed, nor in those of later months. */
export function isLater(moment: Moment): RawBuilder<SqlBool> {
  const { revision, time } = moment;
  return sql<SqlBool>`revision > ${revision} and time > ${shifted(time, -skewMs)}::timestamptz and ${isKept(moment)}`;
}

const shifted = (time: string, byMs: number): string => new Date(Date.parse(time) + byMs).toISOString();

function tooOld(asked: string, { head, head_time, oldest, oldest_time }: Found): ServiceError {
  return expired(`the log of the Org does not reach back to ${asked}`, {
    revision: oldest ?? head,
    time: oldest_time ?? head_time,
  });
}

/** Returns the error for a moment that is too old. @param oldest the oldest that can be asked for. */
export function expired(description: string, oldest: RevisionTime): ServiceError {
  return new ServiceError("REVISION_EXPIRED", `${description}: the oldest is ${oldest.revision}, of ${oldest.time}`, {
    metadata: { oldest_revision: oldest.revision, oldest_time: oldest.time },
  });
}
