import { type RawBuilder, sql } from "kysely";

/**
 * Returns the condition that there is a table of a name, given as SQL. It reads the catalog as of the statement. `to_regclass` may answer
 * from what the connection knew when its transaction began: after a wait for a lock, that misses what the one that had it has created.
 */
export function tableExists(name: RawBuilder<string>): RawBuilder<boolean> {
  return sql`exists (select from pg_class where relname = ${name} and pg_table_is_visible(oid))`;
}
