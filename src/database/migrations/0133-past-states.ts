import { type Kysely, sql } from "kysely";

/**
 * Creates the table of states of orgs from which the past is read. They can be made from the log and the tables at any time, and are left
 * out when the log does not have their revision, so that what a server of the version before does not write or remove is not missed.
 */
export async function createPastStates(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table past_states (
      customer_id uuid not null,
      org_id uuid not null,
      resource_type text not null,
      revision uuid not null,
      piece bigint not null,
      time timestamptz not null,
      rows jsonb not null,
      primary key (customer_id, org_id, resource_type, revision, piece)
    )`.execute(db);
  await sql`create index past_states_by_time on past_states (time)`.execute(db);
}
