// What a write decides by the time gets it as a value: the time that was read with the lock, or before the first statement. A statement
// that calls the clock by itself decides at another time than the write, and a distributed database cannot run many of them.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "./schema.ts";

/** The database's clock in milliseconds, as a column of a statement that reads something else, too. */
export const clockMs = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::float8`;

/** The time of a statement: after that of the lock that a write has waited for, where that of the transaction is before. */
export const statementTime: RawBuilder<Date> = sql<Date>`statement_timestamp()`;

/** Returns a time as text with microseconds, which a Date does not have: `2029-12-31T23:59:59.000001Z`. */
export function timeText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** Reads the database's clock, with microseconds. */
export async function readClock(db: Kysely<Schema>): Promise<string> {
  const { time } = await db.selectNoFrom(timeText(sql`clock_timestamp()`).as("time")).executeTakeFirstOrThrow();
  return time;
}

/** Returns a time that is later by a number of seconds. */
export function secondsAfter(time: Date | string, seconds: number): Date {
  return new Date(new Date(time).getTime() + seconds * 1000);
}
