import { type Kysely, type Transaction, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { isActiveMember } from "../../identity/caller-lookup.ts";
import type { SecretHandle } from "../../identity/secret-handle.ts";
import { clockMs } from "../../database/clock.ts";

export const browserLifeSeconds = 12 * 3_600;

export interface SignedInRow {
  readonly sign_in_time: Date;
  readonly browser_expire_time: Date;
  readonly session_id: string;
  readonly token_gen: string | null;
  readonly session_expire_time: Date;
  readonly customer_id: string;
  readonly customer_name: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly org_delete_time: null;
  readonly org_display_name: string;
  readonly member_id: string;
  readonly member_name: string;
  readonly member_display_name: string;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

/**
 * Whether a browser is signed in as a member, until its sign-in or its session expires (`isUnexpired`). What ends a session in the API
 * ends it here: its deletion, another `token_gen`, and the suspension or deletion of the member.
 */
export const isSignedIn = sql<boolean>`${isActiveMember} and sessions.token_gen is not distinct from members.token_gen`;

/** Whether neither a sign-in nor a session of it has expired. */
export function isUnexpired(row: Pick<SignedInRow, "browser_expire_time" | "session_expire_time" | "now">): boolean {
  return row.browser_expire_time.getTime() > row.now && row.session_expire_time.getTime() > row.now;
}

export async function readSignedIn(db: Kysely<Schema>, { id, hash }: SecretHandle): Promise<SignedInRow[]> {
  const { rows } = await sql<SignedInRow>`
    select browser_sessions.sign_in_time, browser_sessions.expire_time as browser_expire_time,
      sessions.id as session_id, sessions.token_gen, sessions.expire_time as session_expire_time,
      orgs.customer_id, customers.name as customer_name, orgs.id as org_id, orgs.name as org_name, orgs.delete_time as org_delete_time,
      orgs.display_name as org_display_name,
      members.id as member_id, members.name as member_name, members.display_name as member_display_name,
      ${clockMs} as now
    from browser_sessions
    join sessions on sessions.browser_session_id = browser_sessions.id
    join members on members.customer_id = sessions.customer_id and members.org_id = sessions.org_id
      and members.id = sessions.member_id
    join orgs on orgs.customer_id = sessions.customer_id and orgs.id = sessions.org_id
    join customers on customers.id = orgs.customer_id
    where browser_sessions.id = ${id} and browser_sessions.hash = ${hash} and ${isSignedIn}
    order by sessions.id`.execute(db);
  return rows.filter(isUnexpired);
}

export interface BrowserSessionKey {
  readonly org_id: string;
  readonly member_id: string;
  readonly id: string;
}

/**
 * Deletes a sign-in, and returns the keys of its sessions: also of those whose member cannot be signed in now, because they
 * would come back with its org.
 */
export async function deleteBrowserSession(
  db: Transaction<Schema>,
  { id, hash }: SecretHandle,
): Promise<BrowserSessionKey[]> {
  const { numDeletedRows } = await db
    .deleteFrom("browser_sessions")
    .where("id", "=", id)
    .where("hash", "=", hash)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return [];
  // A statement of its own: the deletion may have waited for a session that was being started.
  return db.selectFrom("sessions").select(["org_id", "member_id", "id"]).where("browser_session_id", "=", id).execute();
}
