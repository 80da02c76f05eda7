import { type InferResult, type Kysely, type SqlBool, type Transaction, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { columnsOf, pathColumns, versionColumns } from "../../database/columns.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";

export type SessionRow = InferResult<ReturnType<typeof selectSessions>>[number];

export const sessionColumns = [
  "org_id",
  "member_id",
  "id",
  "client_id",
  "api_key_id",
  "browser_session_id",
  "oauth_client_id",
  "client_org_id",
  "identity_id",
  "token_gen",
  "scopes",
  "project_id",
  "allowed_addresses",
  "user_agent",
  "refresh_time",
  "expire_time",
  ...versionColumns,
] as const;

/** The client of a session; null for a session that is not of a registered client. */
const clientName = sql<string | null>`(
  select clients.display_name from clients
  where clients.org_id = sessions.client_org_id and clients.id = sessions.oauth_client_id
)`;

const isLive = sql<SqlBool>`sessions.expire_time > statement_timestamp()`;

/** Selects all sessions that have not ended, with the columns that their paths need. */
export function selectSessions(db: Kysely<Schema>) {
  return selectAllSessions(db).where(isLive);
}

/** Selects all sessions, including those that have ended. */
export function selectAllSessions(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("members", (join) =>
      join.onRef("members.customer_id", "=", "orgs.customer_id").onRef("members.org_id", "=", "orgs.id"),
    )
    .innerJoin("sessions", (join) =>
      join
        .onRef("sessions.customer_id", "=", "members.customer_id")
        .onRef("sessions.org_id", "=", "members.org_id")
        .onRef("sessions.member_id", "=", "members.id"),
    )
    .select(columnsOf("sessions", sessionColumns))
    .select([...pathColumns.org, ...pathColumns.member, clientName.as("client_display_name")]);
}

/**
 * Lets the sessions of a member expire, with the next statement, when all its tokens end, and deletes the codes with which it could sign
 * in. The sessions have ended already: they have another `token_gen` than the member.
 */
export function expireSessions({ db, org, time }: OrgTransaction, memberId: string): void {
  const expiry = db
    .updateTable("sessions")
    .set({ expire_time: sql<Date>`least(expire_time, ${time}::timestamptz)` })
    .where(isInOrgOf("sessions", org))
    .where("member_id", "=", memberId);
  db.sendWithNext(expiry.compile());
  const deletion = db
    .deleteFrom("sign_in_links")
    .where(isInOrgOf("sign_in_links", org))
    .where("member_id", "=", memberId);
  db.sendWithNext(deletion.compile());
}

/** Lets the sessions of clients expire, in all orgs. They have ended already: their clients are deleted. */
export async function expireSessionsOfClients(
  { db, org, time }: OrgTransaction,
  ids: readonly string[],
): Promise<void> {
  await db
    .updateTable("sessions")
    .set({ expire_time: sql<Date>`least(expire_time, ${time}::timestamptz)` })
    .where("client_org_id", "=", org.id)
    .where(sql<SqlBool>`oauth_client_id = any(${ids}::uuid[])`)
    .execute();
}

export function readSessionsOfKeys(
  db: Transaction<Schema>,
  orgId: string,
  keyIds: readonly string[],
): Promise<SessionRow[]> {
  return selectAllSessions(db)
    .where("sessions.org_id", "=", orgId)
    .where(sql<SqlBool>`sessions.api_key_id = any(${keyIds}::uuid[])`)
    .execute();
}

export function readSessionsOfIdentities(
  db: Transaction<Schema>,
  orgId: string,
  identityIds: readonly string[],
): Promise<SessionRow[]> {
  return selectAllSessions(db)
    .where("sessions.org_id", "=", orgId)
    .where(sql<SqlBool>`sessions.identity_id = any(${identityIds}::uuid[])`)
    .execute();
}

/** What a session belongs to: an API key, a registered client, or the browsers in which its member signs in. */
type SessionOwner = Pick<SessionRow, "api_key_id" | "oauth_client_id" | "client_org_id">;

/**
 * Returns the sessions that must go before a member starts another: those that have ended, and of too many of the same key or
 * client, the oldest.
 */
export async function readSurplusSessions(
  { db, org }: OrgTransaction,
  memberId: string,
  { api_key_id: keyId, oauth_client_id: clientId, client_org_id: clientOrgId }: SessionOwner,
  maxOthers: number,
): Promise<SessionRow[]> {
  const isLiveNow = sql<SqlBool>`sessions.expire_time > ${org.lockTime}`;
  const rows = await selectAllSessions(db)
    .select(isLiveNow.as("is_live"))
    .where("sessions.org_id", "=", org.id)
    .where("sessions.member_id", "=", memberId)
    .where(
      sql<SqlBool>`(not ${isLiveNow} or (sessions.api_key_id is not distinct from ${keyId}::uuid
        and sessions.oauth_client_id is not distinct from ${clientId}::uuid
        and sessions.client_org_id is not distinct from ${clientOrgId}::uuid))`,
    )
    .orderBy("sessions.id", "desc")
    .execute();
  const live = rows.filter((row) => row.is_live);
  return [...rows.filter((row) => !row.is_live), ...live.slice(maxOthers)];
}
