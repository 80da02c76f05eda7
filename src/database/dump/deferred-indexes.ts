// Rows are loaded before there are indexes and foreign keys, which are built and checked at once afterwards: that takes a third of the
// time of doing it row by row, and tables can be loaded in any order. Primary keys stay: rows come in their order.
import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";

/** Statements that build what was dropped, in their order. */
export interface Deferred {
  readonly indexes: readonly string[];
  readonly foreignKeys: readonly string[];
}

/** Drops the indexes and foreign keys of tables, in a transaction that has created them. */
export async function dropIndexes(db: Kysely<Schema>, tables: readonly string[]): Promise<Deferred> {
  const { rows: keys } = await sql<{ table: string; name: string; definition: string }>`
    select relname as table, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where contype = 'f' and conparentid = 0 and relnamespace = current_schema()::regnamespace
      and relname = any (${tables}::text[])
    order by relname, conname`.execute(db);
  for (const { table, name } of keys) {
    await sql`alter table ${sql.table(table)} drop constraint ${sql.id(name)}`.execute(db);
  }
  const { rows: indexes } = await sql<{ name: string; definition: string }>`
    select indexes.relname as name, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class as tables on tables.oid = indrelid join pg_class as indexes on indexes.oid = indexrelid
    where tables.relnamespace = current_schema()::regnamespace and tables.relname = any (${tables}::text[])
      and not exists (select from pg_constraint where conindid = indexrelid)
    order by indexes.relname`.execute(db);
  for (const { name } of indexes) await sql`drop index ${sql.id(name)}`.execute(db);
  return {
    // Of a table in partitions, the definition is that of the table alone.
    indexes: indexes.map(({ definition }) => definition.replace(" ON ONLY ", " ON ")),
    foreignKeys: keys.map(({ table, name, definition }) => {
      const { sql: text } = sql`alter table ${sql.table(table)} add constraint ${sql.id(name)} `.compile(db);
      return `${text}${definition}`;
    }),
  };
}
