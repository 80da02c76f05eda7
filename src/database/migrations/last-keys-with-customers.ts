// Puts the customer behind the keys of the tables that servers insert into with `on conflict`. Those of the version before name the
// constraint, which keeps its name, and set the customer in each row; those of the version before that named the columns.
import { type Kysely, sql } from "kysely";
import type { Migrations } from "../migration/migration.ts";

/** What the servers know that name these constraints, and keep the log of a customer in its own as soon as `installation` says so. */
const requires = "0094-use-of-customer-logs";

/** The columns of the keys from before, by table. */
const keys: Readonly<Record<string, string>> = {
  ended_tokens: "org_id, id",
  resource_counts: "org_id, parent_id, resource_type",
  write_requests: "org_id, actor_id, request_id",
};

const indexOf = (table: string): string => `${table}_customer_key`;

const entries = (step: string, of: (table: string, columns: string) => Migrations[string]): Migrations =>
  Object.fromEntries(
    Object.entries(keys).map(([table, columns]) => [`${step}-of-${table.replaceAll("_", "-")}`, of(table, columns)]),
  );

export const lastKeysWithCustomers: Migrations = {
  ...entries("0121-key", (table, columns) => ({
    createIndexes: [{ name: indexOf(table), definition: `on ${table} (${columns}, customer_id)`, unique: true }],
  })),
  ...entries("0122-key-with-customer", (table) => ({
    requires,
    async up(db: Kysely<unknown>) {
      await sql
        .raw(`-- squawk-ignore ban-drop-constraint\nalter table ${table} drop constraint ${table}_pkey`)
        .execute(db);
      await sql
        .raw(`alter table ${table} add constraint ${table}_pkey primary key using index ${indexOf(table)}`)
        .execute(db);
    },
  })),
  // Servers of this version no longer ask. Those of the version before that have started earlier go on in the log of the org `system`, and
  // lock the customer, too; both logs are read as one.
  "0123-logs-of-customers": {
    requires,
    async up(db: Kysely<unknown>) {
      await sql`update installation set customer_logs = true`.execute(db);
    },
  },
};
