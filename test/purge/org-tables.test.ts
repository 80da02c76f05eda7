// The lists of tables against the database's own catalog: a table that is added and not listed fails here.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { orgTables, ownedTables } from "../../src/purge/org-tables.ts";
import { useSharedDatabase } from "../database/shared-database.ts";

const database = useSharedDatabase();

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

test("every table with rows of an org is emptied when the org is removed", async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'org_id'`.execute(database().reads);
  expect([...orgTables].toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
});

test("tables are emptied before those that they refer to", async () => {
  const order = (table: string): number => orgTables.findIndex((name) => name === table);
  const within = (await foreignKeys()).filter(({ from, to }) => order(from) >= 0 && order(to) >= 0);
  expect(within.length).toBeGreaterThan(5);
  for (const { from, to } of within) expect([from, to, order(from) < order(to)]).toEqual([from, to, true]);
});

test("what triggers keep is emptied after all that they watch", async () => {
  const { rows } = await sql<{ name: string }>`
    select distinct tgrelid::regclass::text as name from pg_trigger where not tgisinternal`.execute(database().reads);
  const watched = rows.map(({ name }) => name).filter((name) => orgTables.some((table) => table === name));
  expect(watched.length).toBeGreaterThan(5);
  const kept = ["resource_labels", "resource_counts"] as const;
  for (const table of kept) {
    for (const name of orgTables.slice(orgTables.indexOf(table))) expect(watched).not.toContain(name);
  }
});

test.each(["members", "projects"] as const)(
  "every table that refers to %s is emptied before they are",
  async (owners) => {
    const references = (await foreignKeys()).filter(({ from, to }) => to === owners && from !== "installation");
    const found = references.map(({ from, columns }) => ({
      table: from,
      column: columns.find((column) => column !== "org_id"),
    }));
    expect([...ownedTables[owners]].toSorted(byTable)).toEqual(found.toSorted(byTable));
  },
);

function byTable(one: { readonly table: string }, other: { readonly table: string }): number {
  return one.table < other.table ? -1 : 1;
}
