import { type Kysely, sql } from "kysely";

/**
 * Creates the keys that sign tokens, and what ends tokens before they expire. Existing members get no `token_gen`, so that the
 * table is not rewritten.
 */
export async function createTokens(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table members add column token_gen uuid`,
    `create table signing_keys (
      id uuid primary key,
      algorithm text not null check (algorithm in ('ES256', 'RS256', 'EdDSA')),
      public_key jsonb not null,
      sealed_key bytea,
      create_time timestamptz(3) not null,
      active_time timestamptz(3) not null,
      retire_time timestamptz(3) not null
    )`,
    `create table ended_tokens (
      org_id uuid not null references orgs,
      id uuid not null,
      type text not null check (type in ('ApiKey', 'Session', 'Token')),
      end_time timestamptz(3) not null,
      primary key (org_id, id)
    )`,
    `create index ended_tokens_by_end_time on ended_tokens (end_time)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
