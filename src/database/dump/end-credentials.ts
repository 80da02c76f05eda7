// What was revoked after the dump is valid again in it. Tokens, sessions and sign-ins are ended, because people and programs get new ones;
// API keys are not, because nobody could get in.
import { type Kysely, sql } from "kysely";
import { readClock } from "../clock.ts";
import type { Schema } from "../schema.ts";

/** What a restore has ended, and what is valid as it was then. */
export interface Ended {
  readonly sessions: number;
  readonly apiKeys: number;
}

/**
 * Ends all sessions and tokens of a database that was loaded, in its transaction. The public parts of signing keys stay: they verify the
 * heads of logs. The servers remove the sessions, and write that to the log.
 *
 * @param tables those of the database, which may be that of an earlier version.
 */
export async function endCredentials(db: Kysely<Schema>, tables: ReadonlySet<string>): Promise<Ended> {
  // A key is published for tokens as long as it was used not long ago.
  if (tables.has("signing_keys")) {
    await sql`update signing_keys set sealed_key = null, active_time = 'epoch', retire_time = 'epoch'`.execute(db);
  }
  const now = await readClock(db);
  let sessions = 0n;
  if (tables.has("sessions")) {
    const ended = await sql`
      update sessions set expire_time = ${now}::timestamptz where expire_time > ${now}::timestamptz`.execute(db);
    sessions = ended.numAffectedRows ?? 0n;
  }
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from api_keys where expire_time is null or expire_time > ${now}::timestamptz`.execute(
    db,
  );
  return { sessions: Number(sessions), apiKeys: rows[0]?.count ?? 0 };
}
