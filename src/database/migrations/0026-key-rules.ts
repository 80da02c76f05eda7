import { type Kysely, sql } from "kysely";

/**
 * Adds the scopes and allowed addresses of API keys, what an org requires of its keys, and tokens that end at a time to come.
 * Existing keys are not narrowed. A server of an earlier version accepts every key with all that its member holds.
 */
export async function addKeyRules(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table api_keys add column scopes text[], add column allowed_addresses text[], add column rotated_from_id uuid`,
    `alter table sessions add column allowed_addresses text[]`,
    `alter table orgs add column api_key_max_seconds bigint, add column api_key_scopes_required boolean`,
    `alter table ended_tokens drop constraint ended_tokens_type_check`,
    `alter table ended_tokens add constraint ended_tokens_type_check
      check (type in ('ApiKey', 'Session', 'Token', 'Rotation')) not valid`,
    `alter table ended_tokens validate constraint ended_tokens_type_check`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
