// Compares the list of tables with the catalog of the database, so that a table missing from the list fails here.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { registry } from "../../../src/resource-registry.ts";
import { orgTablesOf } from "../../../src/jobs/purge/org-tables.ts";
import { useSharedDatabase } from "../../database/shared-database.ts";

const database = useSharedDatabase();
const orgTables: readonly string[] = orgTablesOf(registry);

/** The rows of the first go with those that they lead to; those of the second stay. */
const left = ["directory", "guarding_orgs"];

interface ForeignKey {
  readonly from: string;
  readonly to: string;
  readonly columns: string[];
}

async function foreignKeys(): Promise<ForeignKey[]> {
  const { rows } = await sql<ForeignKey>`
    select conrelid::regclass::text as "from", confrelid::regclass::text as "to",
      array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any (conkey)) as columns
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`.execute(database().reads);
  return rows;
}

test("the list contains every table with rows of an org", async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'org_id' and table_name <> all (${left}::text[])
      and not (select relispartition from pg_class where oid = to_regclass(table_name))`.execute(database().reads);
  expect([...orgTables].toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
});

test("the list has each table before those that it refers to", async () => {
  const order = (table: string): number => orgTables.findIndex((name) => name === table);
  const within = (await foreignKeys()).filter(({ from, to }) => order(from) >= 0 && order(to) >= 0);
  expect(within.length).toBeGreaterThan(5);
  for (const { from, to } of within) expect([from, to, order(from) < order(to)]).toEqual([from, to, true]);
});
