// Renders the schema in the catalog of PostgreSQL as text that resembles DDL. The text is the same on all supported server
// versions.
import { type Kysely, sql } from "kysely";
import type { Schema } from "../../src/database/schema.ts";

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly is_required: boolean;
  readonly standard: string | null;
}

interface Named {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/** Excludes Kysely's own tables, which record the applied migrations, and partitions. */
const isOurs = sql`pg_class.relnamespace = 'public'::regnamespace and pg_class.relname not like 'kysely\\_%'
  and not pg_class.relispartition`;

export async function renderSchema(db: Kysely<Schema>): Promise<string> {
  const columns = await readColumns(db);
  const constraints = await readConstraints(db);
  const indexes = await readIndexes(db);
  const triggers = await readTriggers(db);
  const functions = await readFunctions(db);
  const partitioned = await readPartitionKeys(db);
  const names = [...new Set(columns.map((column) => column.table))];
  const tables = names
    .map((table) => {
      const lines = [
        ...columns.filter((column) => column.table === table).map(renderColumn),
        ...constraints.filter((constraint) => constraint.table === table).map(renderConstraint),
      ];
      const statements = [...indexes, ...triggers]
        .filter((each) => each.table === table)
        .map(({ definition }) => `${definition};\n`);
      const key = partitioned.get(table);
      const end = key === undefined ? "" : ` partition by ${key}`;
      return `create table ${table} (\n${lines.join(",\n")}\n)${end};\n${statements.join("")}`;
    })
    .join("\n");
  return [tables, ...functions].join("\n");
}

/** Returns the objects that `renderSchema` omits: everything except tables, indexes, triggers and their functions. */
export async function listOtherObjects(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select 'relation ' || relname as name from pg_class where ${isOurs} and relkind not in ('r', 'i', 'p', 'I')
    union all
    select 'type ' || typname from pg_type
    where typnamespace = 'public'::regnamespace and typtype in ('e', 'd', 'r', 'm')
    union all
    select 'policy ' || policyname from pg_policies
    order by name`.execute(db);
  return rows.map((row) => row.name);
}

function renderColumn({ column, type, is_required: isRequired, standard }: Column): string {
  return `  ${column} ${type}${isRequired ? " not null" : ""}${standard === null ? "" : ` default ${standard}`}`;
}

function renderConstraint({ name, definition }: Named): string {
  return `  constraint ${name} ${definition}`;
}

async function readColumns(db: Kysely<Schema>): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select pg_class.relname as table, attname as column, format_type(atttypid, atttypmod) as type,
      attnotnull as is_required, pg_get_expr(adbin, adrelid) as standard
    from pg_class
    join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = pg_class.oid and adnum = attnum
    where ${isOurs} and relkind in ('r', 'p')
    order by relname collate "C", attnum`.execute(db);
  return rows;
}

/** Returns the keys of partitioned tables. The partitions are not rendered, because they depend on the date. */
async function readPartitionKeys(db: Kysely<Schema>): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<Named>`
    select relname as table, relname as name, pg_get_partkeydef(oid) as definition
    from pg_class where ${isOurs} and relkind = 'p'`.execute(db);
  return new Map(rows.map(({ table, definition }) => [table, definition]));
}

/**
 * Returns primary keys, checks and foreign keys, in this order. PostgreSQL 18 also lists NOT NULL, which the columns show
 * already.
 */
async function readConstraints(db: Kysely<Schema>): Promise<Named[]> {
  const { rows } = await sql<Named>`
    select relname as table, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_class
    join pg_constraint on conrelid = pg_class.oid and contype <> 'n'
    where ${isOurs}
    order by array_position('{p,u,x,c,f}'::"char"[], contype), conname collate "C"`.execute(db);
  return rows;
}

/** Returns the indexes that do not belong to a constraint. */
async function readIndexes(db: Kysely<Schema>): Promise<Named[]> {
  const { rows } = await sql<Named>`
    select pg_class.relname as table, index.relname as name,
      replace(pg_get_indexdef(indexrelid), ' ON public.', ' ON ') as definition
    from pg_class
    join pg_index on indrelid = pg_class.oid
    join pg_class as index on index.oid = indexrelid
    where ${isOurs} and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    order by index.relname collate "C"`.execute(db);
  return rows;
}

async function readTriggers(db: Kysely<Schema>): Promise<Named[]> {
  const { rows } = await sql<Named>`
    select relname as table, tgname as name, replace(pg_get_triggerdef(pg_trigger.oid), ' ON public.', ' ON ') as definition
    from pg_trigger
    join pg_class on pg_class.oid = tgrelid
    where not tgisinternal and ${isOurs}
    order by tgname collate "C"`.execute(db);
  return rows;
}

async function readFunctions(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ definition: string }>`
    select trim(pg_get_functiondef(oid), E'\\n') || E';\\n' as definition
    from pg_proc where pronamespace = 'public'::regnamespace
    order by proname collate "C"`.execute(db);
  return rows.map((row) => row.definition);
}
