// Rows of webhooks for tests of the statements that find what is due.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "../../../src/database/schema.ts";

/**
 * Inserts webhooks of orgs that have delivered all of their logs.
 *
 * @param count of each org.
 * @param orgs the condition of the orgs.
 */
export async function addWebhooks(db: Kysely<Schema>, count: number, orgs: RawBuilder<unknown>): Promise<void> {
  await sql`
    insert into webhooks (customer_id, org_id, id, url, filter, format, state, member_org_id, member_id, sealed_secret,
      cursor_time, cursor_revision, cursor_position, name, display_name, description, labels, changed_revision)
    select customer_id, id, gen_random_uuid(), 'https://hooks.invalid/', '', 'STANDARD', 'ACTIVE', id, id, '',
      revision_time, revision, 2147483647, 'hook-' || n, '', '', '{}', revision
    from orgs, generate_series(1, ${count}::int) as n where ${orgs}`.execute(db);
}

/** Adds an entry to the log of an org, without a note to its webhooks, as a server does that is killed. */
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
