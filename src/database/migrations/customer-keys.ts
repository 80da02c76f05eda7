import { type Kysely, sql } from "kysely";
import type { Index, Migration, Migrations } from "../migration/migration.ts";
import { customerTables } from "./customer-columns.ts";

/**
 * The keys, led by the customer, of the tables that change under the lock of a customer or by jobs, and have no foreign key that needs the
 * old one. The scopes of a customer have ids of their own, so a quota needs no org in its key.
 */
export const customerKeys: readonly Index[] = [
  {
    name: "allocations_customer_key",
    definition: "on allocations (customer_id, org_id, resource_id, kind)",
    unique: true,
  },
  { name: "quotas_customer_key", definition: "on quotas (customer_id, scope_id, kind)", unique: true },
  // Those of an org are removed with it.
  { name: "quotas_org", definition: "on quotas (customer_id, org_id)" },
  { name: "sweeps_customer_key", definition: "on sweeps (customer_id, org_id, scope_id)", unique: true },
];

/** What servers know that write the customer of each row, and no longer need the keys from before. */
const requires = "0048-customer-keys";

const statements = (...texts: readonly string[]): Migration => ({
  requires,
  async up(db: Kysely<unknown>) {
    for (const text of texts) await sql.raw(text).execute(db);
  },
});

/** Makes the index that was built the primary key. It gets its name. */
function replaceKey(table: string, ...more: readonly string[]): Migration {
  return statements(
    `alter table ${table} drop constraint ${table}_pkey`,
    `alter table ${table} add constraint ${table}_pkey primary key using index ${table}_customer_key`,
    ...more,
  );
}

/**
 * Takes away what only servers needed that do not know the customers of rows: the keys from before, and the triggers. The quotas of
 * customers are in no org; before, they had the zero UUID.
 */
export const customerContract: Migrations = {
  "0049-customer-key-of-allocations": replaceKey("allocations"),
  "0049-customer-key-of-quotas": replaceKey("quotas", "alter table quotas alter column org_id drop not null"),
  "0049-customer-key-of-sweeps": replaceKey("sweeps"),
  "0049-fill-quotas-of-customers": {
    requires,
    fill: {
      table: "quotas",
      key: ["customer_id", "scope_id", "kind"],
      set: "org_id = null",
      where: "org_id = '00000000-0000-0000-0000-000000000000'",
    },
  },
  ...Object.fromEntries(
    customerTables.map(({ table }) => [
      `0049-no-customer-trigger-of-${table.replaceAll("_", "-")}`,
      statements(`drop trigger ${table}_customer on ${table}`),
    ]),
  ),
  "0049-without-customer-functions": {
    ...statements(
      ...["set_customer", "set_customer_of_label", "set_customer_of_org", "set_customer_of_quota"].map(
        (name) => `drop function ${name}()`,
      ),
    ),
    needs: ["0049-fill-quotas-of-customers"],
  },
};
