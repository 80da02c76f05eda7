import { type Kysely, sql } from "kysely";

/** Creates the table of responses to writes with a request id. An expired row is replaced by a new request with the same id. */
export async function createWriteRequests(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table write_requests (
      org_id uuid not null,
      actor_id uuid not null,
      request_id uuid not null,
      fingerprint bytea not null,
      answer bytea not null,
      create_time timestamptz(3) not null default now(),
      primary key (org_id, actor_id, request_id),
      foreign key (org_id, actor_id) references members on delete cascade
    )`,
    `create index write_requests_create_time on write_requests (create_time)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
