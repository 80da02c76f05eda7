// Rows of webhooks and event streams for tests of the statements that find what is due.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "../../../src/database/schema.ts";
import type { Followers } from "../../../src/events/deliveries/followers.ts";

/** The columns that one table has alone, and their values. */
const own = {
  webhooks: sql`url, filter, format, sealed_secret`,
  event_streams: sql`push_url, audience, subject_format, event_types`,
};
const ownValues = {
  webhooks: sql`'https://hooks.invalid/', '', 'STANDARD', ''::bytea`,
  event_streams: sql`'https://gateway.invalid/', 'gateway', 'ISS_SUB', '{}'::text[]`,
};

/**
 * Inserts webhooks or event streams of orgs that have delivered all of their logs.
 *
 * @param count of each org.
 * @param orgs the condition of the orgs.
 */
export async function addFollowers(
  db: Kysely<Schema>,
  { table }: Followers,
  count: number,
  orgs: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into ${sql.table(table)} (customer_id, org_id, id, state, member_org_id, member_id, ${own[table]},
      cursor_time, cursor_revision, cursor_position, name, display_name, description, labels, changed_revision)
    select customer_id, id, gen_random_uuid(), 'ACTIVE', id, id, ${ownValues[table]},
      revision_time, revision, 2147483647, 'follower-' || n, '', '', '{}', revision
    from orgs, generate_series(1, ${count}::int) as n where ${orgs}`.execute(db);
}

/** Inserts webhooks of a customer, which deliver what is written from now on. Returns their ids. */
export async function addWebhooksOfCustomer(db: Kysely<Schema>, customerId: string, count: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into webhooks (customer_id, org_id, parent_customer_id, start_time, id, state, member_org_id, member_id, ${own.webhooks},
      cursor_time, cursor_revision, cursor_position, name, display_name, description, labels, changed_revision)
    select id, id, id, clock_timestamp(), gen_random_uuid(), 'ACTIVE', id, id, ${ownValues.webhooks},
      clock_timestamp(), revision, 2147483647, 'follower-' || gen_random_uuid(), '', '', '{}', revision
    from customers, generate_series(1, ${count}::int) as n where id = ${customerId} returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Adds an entry to the log of an org, without a note to those that follow it, as a server does that is killed. */
export async function addEntry(db: Kysely<Schema>, orgId: string, type = "Group"): Promise<void> {
  await sql`
    with head as (
      update orgs set revision = gen_random_uuid(), revision_time = clock_timestamp() where id = ${orgId} returning *
    )
    insert into changes (customer_id, org_id, revision, position, time, format, method, resource_type, resource_id, resource_path, after)
    select customer_id, id, revision, 0, revision_time, 4, 'test', ${type}, gen_random_uuid(), '/', '{}' from head`.execute(
    db,
  );
}
