import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "../../src/database/schema.ts";
import { nowhere } from "./nowhere.ts";

interface CustomerDrift {
  readonly table: string;
  readonly rows: number;
}

/** The tables with rows of orgs, of no customer: the catalog of services is on the platform. */
const ofPlatform = ["services", "resource_types", "quantity_kinds", "quality_kinds"];

/** The tables with rows of customers themselves, besides those of orgs. */
const ofCustomersToo: ReadonlySet<string> = new Set([
  "changes",
  "contact_links",
  "contact_warnings",
  "contacts",
  "resource_counts",
  "resource_labels",
  "usage_summaries",
  "usage_sums",
  "webhook_deliveries",
  "webhook_logs",
  "webhooks",
]);

/** Returns the tables with rows that do not have the customer of their org. */
export async function findCustomerDrift(db: Kysely<Schema>): Promise<CustomerDrift[]> {
  // These rows stay when their org is purged.
  const tables = (await listOrgTables(db)).filter((table) => table !== "guarding_orgs");
  const counts = tables.map(
    (table) => sql`select ${table}::text as table, count(*)::int as rows from (${wrongRows(table)}) as wrong`,
  );
  const { rows } = await sql<CustomerDrift>`
    select * from (${sql.join(counts, sql` union all `)}) as counted where rows > 0`.execute(db);
  return rows;
}

/** Returns the tables with rows of orgs. */
export async function listOrgTables(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    select relname as table from pg_attribute join pg_class on pg_class.oid = attrelid
    where attname = 'org_id' and not attisdropped and relkind in ('r', 'p') and not relispartition
      and relnamespace = current_schema()::regnamespace and relname <> all (${ofPlatform}::text[])
    order by relname`.execute(db);
  return rows.map(({ table }) => table);
}

/**
 * Selects the rows of a table whose customer is not that of their org. Loose ones of orgs that are gone count, too. The log of a customer, and
 * its webhooks and contacts with what belongs to them, have the customer in the place of an org. Their customer is there, but for the log.
 */
function wrongRows(table: string): RawBuilder<unknown> {
  const customer = sql.ref(table === "role_bindings" ? "kept.org_customer_id" : "kept.customer_id");
  const ofNoOrg: Readonly<Record<string, RawBuilder<unknown>>> = {
    directory: sql`(select id from customers where customers.name = kept.name)`,
    quotas: sql`kept.scope_id`,
    resource_labels: sql`case kept.resource_type when 'Customer' then kept.resource_id
      else (select labelled.customer_id from orgs as labelled where labelled.id = kept.resource_id) end`,
  };
  const itself = table === "changes" ? sql`kept.org_id` : sql`(select id from customers where id = kept.org_id)`;
  const ofOrg = ofCustomersToo.has(table) ? sql`coalesce(orgs.customer_id, ${itself})` : sql`orgs.customer_id`;
  return sql`
    select from ${sql.table(table)} as kept left join orgs on orgs.id = kept.org_id
    where ${customer} is distinct from
      case when kept.org_id is null or kept.org_id = ${nowhere}::uuid then ${ofNoOrg[table] ?? sql`null`} else ${ofOrg} end`;
}
