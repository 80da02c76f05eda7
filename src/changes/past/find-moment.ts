// Finds a moment in the history of an org, by a revision or by a time.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { timeText } from "../../database/clock.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { Schema } from "../../database/schema.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { isRevision, numberOf } from "../revision.ts";

/** A revision of an org that its log has, or that is its head. */
export interface Moment {
  readonly revision: string;
  /** When it was made: `2029-12-31T23:59:59.000001Z`. */
  readonly time: string;
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
  if (found.revision !== null && found.time !== null) return { revision, time: found.time };
  const { head, head_time, oldest } = found;
  if (head === revision) return { revision, time: head_time };
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
  // Texts of this form are in the order of the times.
  if (found.head_time <= time) return { revision: found.head, time: found.head_time };
  if (found.revision !== null && found.time !== null) return { revision: found.revision, time: found.time };
  throw tooOld(time, found);
}

async function find(db: Kysely<Schema>, orgId: string, condition: RawBuilder<unknown>): Promise<Found> {
  const entry = (where: RawBuilder<unknown>, order: RawBuilder<unknown>) => sql`
    left join lateral (
      select revision, ${timeText(sql`time`)} as time from changes
      where customer_id = orgs.customer_id and org_id = orgs.id and ${where} and ${sql.raw(isInThePast)}
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
  if (row === undefined) throw new ServiceError("RESOURCE_NOT_FOUND", `there is no org @${orgId}`);
  return row;
}

function tooOld(asked: string, { head, head_time, oldest, oldest_time }: Found): ServiceError {
  return expired(`the log of the Org does not reach back to ${asked}`, {
    revision: oldest ?? head,
    time: oldest_time ?? head_time,
  });
}

/** Returns the error for a moment that is too old. @param oldest the oldest that can be asked for. */
export function expired(description: string, oldest: Moment): ServiceError {
  return new ServiceError("REVISION_EXPIRED", `${description}: the oldest is ${oldest.revision}, of ${oldest.time}`, {
    metadata: { oldest_revision: oldest.revision, oldest_time: oldest.time },
  });
}
