import { type Kysely, sql } from "kysely";
import type { Index } from "../migration/migration.ts";

const references = {
  ofOrgs: "webhooks_org_customer_id_org_id_fkey",
  ofCustomers: "webhooks_parent_customer_id_fkey",
};

/**
 * Lets webhooks be of customers, which have the id of the customer in the place of that of an org, as their logs have. The customer of
 * their org is null, so that the foreign key to `orgs` is not for them. How far such a webhook
 * has delivered is in a row for each log that has had something to deliver. A server of the version before finds no org
 * for such a webhook: it leaves it for ten minutes each time that it finds it due, and cannot purge its customer.
 */
export async function addWebhooksOfCustomers(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `-- squawk-ignore-file prefer-bigint-over-int, adding-field-with-default
    create table webhook_logs (
      customer_id uuid not null,
      org_id uuid not null,
      webhook_id uuid not null,
      noted_time timestamptz not null,
      cursor_time timestamptz not null,
      cursor_revision uuid not null,
      cursor_position integer not null,
      pending_time timestamptz,
      pending_revision uuid,
      pending_position integer,
      attempts integer not null default 0,
      failing_since timestamptz,
      next_attempt_time timestamptz not null default 'epoch',
      primary key (customer_id, webhook_id, org_id)
    )`,
    // The table is small, so that it is written anew in a moment: an org has few webhooks.
    `alter table webhooks
      add column start_time timestamptz,
      add column parent_customer_id uuid,
      add column org_customer_id uuid generated always as (nullif(customer_id, org_id)) stored`,
    // From here on, nobody else reads orgs until the migration is committed.
    `-- squawk-ignore ban-drop-constraint
    alter table webhooks drop constraint webhooks_customer_id_org_id_fkey`,
    // Those of a customer are counted, and none of its orgs is what they are in. Counts are removed with the rows that they count.
    `-- squawk-ignore ban-drop-constraint
    alter table resource_counts drop constraint resource_counts_customer_id_org_id_fkey`,
    `alter table webhooks add constraint ${references.ofOrgs} foreign key (org_customer_id, org_id)
      references orgs (customer_id, id) not valid`,
    `alter table webhooks add constraint ${references.ofCustomers} foreign key (parent_customer_id) references customers (id) not valid`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** Checks the rows from before for `addWebhooksOfCustomers`. */
export async function validateParentsOfWebhooks(db: Kysely<unknown>): Promise<void> {
  for (const name of Object.values(references)) {
    await sql.raw(`alter table webhooks validate constraint ${name}`).execute(db);
  }
}

export const indexesOfCustomerWebhooks: readonly Index[] = [
  // With it, what there is to deliver of a webhook is found without a look at the other logs of the customer.
  {
    name: "webhook_logs_behind",
    definition: `on webhook_logs (customer_id, webhook_id, next_attempt_time)
      where noted_time > cursor_time or cursor_position <> 2147483647`,
  },
  {
    name: "webhooks_of_customers",
    definition: "on webhooks (parent_customer_id, id) where parent_customer_id is not null",
  },
  // A list through all orgs does not pass over those of customers.
  { name: "webhooks_of_orgs", definition: "on webhooks (org_id, id) where org_customer_id is not null" },
  { name: "webhook_deliveries_by_time", definition: "on webhook_deliveries (customer_id, webhook_id, attempt_time)" },
];
