import { type Kysely, sql } from "kysely";

const maxNameLength = 64;

/** The method in the change log of the resources that the migration renames. */
const method = "tenantry/0010-reserved-names";

/** The value of the column `writer` of servers that can write since 0007. */
const writer = 2;

/** The next number, in the first 8 bytes, and a new token. */
const nextRevision = sql`(
  lpad(to_hex(('x' || left(replace(revision::text, '-', ''), 16))::bit(64)::bigint + 1), 16, '0')
  || right(replace(gen_random_uuid()::text, '-', ''), 16)
)::uuid`;

type Table = "customers" | "orgs";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly delete_time: Date | null;
  readonly revision?: string;
}

/**
 * Reserves the names of deleted customers and orgs until they are purged.
 *
 * A name can already have passed to another resource. The living one keeps it or, if all are deleted, the one that was deleted
 * last. The others are renamed to `<name>-deleted-<end of the id>`, which the change log records; they are found by their ids,
 * as before.
 *
 * Servers of the previous version report a reserved name as one that is taken.
 */
export async function reserveNames(db: Kysely<unknown>): Promise<void> {
  // Locks the tables first and in a fixed order, because running servers lock rows of both.
  await sql`lock table customers, orgs in access exclusive mode`.execute(db);
  for (const table of ["customers", "orgs"] as const) {
    for (const row of await findNamesakes(db, table)) await rename(db, table, row);
    await sql`drop index ${sql.id(`${table}_name_key`)}`.execute(db);
    await sql`create unique index ${sql.id(`${table}_name_key`)} on ${sql.table(table)} (name)`.execute(db);
  }
}

/** Returns the deleted rows whose names another row keeps. */
async function findNamesakes(db: Kysely<unknown>, table: Table): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select * from ${sql.table(table)} where id in (
      select id from (
        select id, row_number() over (partition by name order by delete_time desc nulls first, id desc) as position
        from ${sql.table(table)}
      ) as numbered where position > 1
    ) order by id`.execute(db);
  return rows;
}

async function rename(db: Kysely<unknown>, table: Table, row: Row): Promise<void> {
  const name = await findFreeName(db, table, row);
  // The changes of customers are in the change log of the installation's own org.
  const { rows: orgs } = await sql<{ id: string; revision: string }>`
    update orgs set revision = ${nextRevision}
    where id = ${table === "orgs" ? row.id : sql`(select system_org_id from installation)`}
    returning id, revision`.execute(db);
  const [org] = orgs;
  const { rows } = await sql<Row>`
    update ${sql.table(table)} set name = ${name}, update_time = now()
      ${org === undefined ? sql`` : sql`, changed_revision = ${org.revision}`}
    where id = ${row.id} returning *`.execute(db);
  const [after] = rows;
  // Without an installation there is no change log either.
  if (org === undefined || after === undefined) return;
  const [type, path] = table === "orgs" ? ["Org", `/orgs/@${row.id}`] : ["Customer", `/customers/@${row.id}`];
  await sql`
    insert into changes (org_id, revision, position, method, resource_type, resource_id, resource_path, writer, before, after)
    values (${org.id}, ${org.revision}, 0, ${method}, ${type}, ${row.id}, ${path}, ${writer}, ${logged(row)}, ${logged(after)})
  `.execute(db);
}

/** Returns a name that is free, and that nobody can mistake for an id. */
async function findFreeName(db: Kysely<unknown>, table: Table, { id, name }: Row): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const end = `-deleted-${id.slice(-12)}${attempt === 0 ? "" : `-${attempt}`}`;
    const free = `${name.slice(0, maxNameLength - end.length)}${end}`;
    const { rows } = await sql`select 1 from ${sql.table(table)} where name = ${free}`.execute(db);
    if (rows.length === 0) return free;
  }
}

/** Returns a row as the change log keeps it. */
function logged({ revision: _revision, ...row }: Row): string {
  return JSON.stringify(row);
}
