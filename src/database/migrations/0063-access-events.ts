import { type Kysely, sql } from "kysely";

/**
 * Creates the log of sign-ins and refused calls. It has no foreign key: an insert would lock the row of the org, on which writes wait. What is
 * inserted while an org is purged goes with what is old. Older servers write none of it, and leave it when they purge an org.
 */
export async function createAccessEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table access_events (
      customer_id uuid not null,
      org_id uuid not null,
      id uuid not null,
      time timestamptz not null,
      last_time timestamptz not null,
      count bigint not null,
      kind text not null,
      actor_org_id uuid,
      actor_id uuid,
      impersonator_id uuid,
      credential_id uuid,
      method text not null,
      resource_path text not null,
      reason text not null,
      reason_detail text not null,
      remote_address text,
      request_id text,
      primary key (customer_id, org_id, id)
    )`.execute(db);
  await sql`create index access_events_by_time on access_events (org_id, time, id)`.execute(db);
  await sql`create index access_events_of_all on access_events (time)`.execute(db);
}
