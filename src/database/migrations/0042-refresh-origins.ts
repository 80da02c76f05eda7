import { type Kysely, sql } from "kysely";

/**
 * Adds from where the refresh token of a session was last used, and how the service authenticates at an identity provider. No row is written,
 * so no table is locked for long. A server of an earlier version leaves both null and reads neither: what it refreshed may be repeated from
 * everywhere, and it sends the secret in the body where a provider allows that.
 */
export async function addRefreshOrigins(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table sessions add column refresh_origin bytea`,
    `alter table identity_providers add column token_endpoint_auth_method text`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
