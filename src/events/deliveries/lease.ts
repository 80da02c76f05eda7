// What has a cursor in the log of its org, and is delivered of by one server at a time. A server claims such a row by a lease, and each
// statement after that names the lease: one that was lost changes nothing.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";

/** The tables of what has a cursor. */
export type LeasedTable = "webhooks" | "event_streams";

/** A row, by its keys. */
export interface Place {
  readonly customer_id: string;
  readonly org_id: string;
  readonly id: string;
}

/** When a row can be claimed, and the time when that was read, in milliseconds. */
export interface DuePlace extends Place {
  readonly dueMs: number;
  readonly nowMs: number;
}

export interface Lease {
  readonly place: Place;
  readonly id: string;
}

/** A position in the log of an org: that of an entry, with its time in microseconds. */
export interface Position {
  readonly time: string;
  readonly revision: string;
  readonly position: number;
}

/** After every position in a revision: that of a cursor when all of the revision is delivered. */
export const afterAll = 2_147_483_647;

/** The position of the cursor of a webhook of a customer of which all logs are to be compared with how far it has delivered. */
export const compareLogs = -1;

/** The revision of a cursor that is before the first entry of a log. */
export const noRevision = "00000000-0000-0000-0000-000000000000";

/** What of a position says which entry it is of. */
type EntryKey = Pick<Position, "revision" | "position">;

/** Whether two positions in a log are of the same entry. */
export const isSame = (one: EntryKey, other: EntryKey): boolean =>
  one.revision === other.revision && one.position === other.position;

export const isAt = (table: LeasedTable, { customer_id, org_id, id }: Place): RawBuilder<SqlBool> =>
  sql<SqlBool>`${isInOrgOf(table, { customer_id, id: org_id })} and ${sql.ref(`${table}.id`)} = ${id}`;

export const isHeld = (table: LeasedTable, { place, id }: Lease): RawBuilder<SqlBool> =>
  sql<SqlBool>`${isAt(table, place)} and ${sql.ref(`${table}.lease_id`)} = ${id}`;

/** How long it takes until a receiver that fails is tried again. */
export const wait = { shortestMs: 5_000, longestMs: 6 * 3_600_000 };

/** Returns what sets the time of the next attempt. @param time undefined to leave it. */
export const nextAttempt = (time: Date | undefined): RawBuilder<unknown> =>
  time === undefined ? sql`` : sql`next_attempt_time = ${time},`;

/** Gives a row back, unless the lease was lost. @param nextAttemptTime undefined to leave it. */
export async function release(
  db: Kysely<Schema>,
  table: LeasedTable,
  lease: Lease,
  nextAttemptTime: Date | undefined,
): Promise<void> {
  await sql`
    update ${sql.table(table)} set ${nextAttempt(nextAttemptTime)} lease_id = null, lease_end = 'epoch'
    where ${isHeld(table, lease)}`.execute(db);
}
