import { sql } from "kysely";
import { registry } from "../../../src/resource-registry.ts";
import { orgTablesOf } from "../../../src/jobs/purge/org-tables.ts";
import type { PurgeFixture } from "./purge-fixture.ts";

/** Their rows are derived from tables that are counted. */
const derived = new Set<string>(["resource_counts", "resource_labels"]);

/**
 * Counts with triggers how many rows each transaction deletes, including cascades. The returned function reads the largest
 * number and the sum.
 */
export async function auditDeletes({ query }: PurgeFixture): Promise<() => Promise<{ most: number; sum: number }>> {
  await query(sql`create table deletes (transaction xid8, rows bigint)`);
  await query(sql`create function note_deletes() returns trigger language plpgsql as $$ begin
    insert into deletes select pg_current_xact_id(), count(*) from old_rows;
    return null;
  end $$`);
  for (const table of [...orgTablesOf(registry), "orgs", "customers"].filter((name) => !derived.has(name))) {
    await query(sql`create trigger note_deletes after delete on ${sql.table(table)} referencing old table as old_rows
      for each statement execute function note_deletes()`);
  }
  return async () => {
    const [found] = await query(sql`
      select coalesce(max(rows), 0)::int as most, coalesce(sum(rows), 0)::int as sum
      from (select sum(rows) as rows from deletes group by transaction) as each`);
    return found as { most: number; sum: number };
  };
}
