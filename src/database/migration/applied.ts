// Which migrations a database has. Those from before 0040-migration-runner are in the table of Kysely, which migrated the database then,
// and which the versions of that time read when they start. Later ones are in `migrations`.
import { type Kysely, sql } from "kysely";
import { isDenied } from "../failure.ts";
import type { Schema } from "../schema.ts";
import { tableExists } from "../table-exists.ts";
import type { Migrations } from "./migration.ts";

/** A migration that has been applied. */
export interface Applied {
  readonly name: string;
  /** The migration that a version must know to run now; null if any version may. Those of Kysely require themselves. */
  readonly requires: string | null;
}

/** The first migration that Kysely has not applied. */
const firstOwn = "0040";

/** The database has migrations that this version does not know, and beside which it may not run. */
export class DatabaseTooNewError extends Error {
  override readonly name = "DatabaseTooNewError";
}

interface Tables {
  readonly kysely: boolean;
  readonly own: boolean;
}

async function findTables(db: Kysely<Schema>): Promise<Tables> {
  const { rows } = await sql<Tables>`
    select ${tableExists(sql`'kysely_migration'`)} as kysely, ${tableExists(sql`'migrations'`)} as own`.execute(db);
  return rows[0] ?? { kysely: false, own: false };
}

/** Returns the role whose rights the session has. */
export async function readRole(db: Kysely<Schema>): Promise<string> {
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(db);
  return rows[0]?.role ?? "";
}

/** Returns the applied migrations by their names, in no particular order; none if the database is empty. */
export async function readApplied(db: Kysely<Schema>): Promise<ReadonlyMap<string, Applied>> {
  const { kysely, own } = await findTables(db);
  const tables = [
    ...(kysely ? [sql`select name, name as requires from kysely_migration`] : []),
    // After the others: those of them that are in both tables have their terms here.
    ...(own ? [sql`select name, requires from migrations`] : []),
  ];
  if (tables.length === 0) return new Map();
  const { rows } = await sql<Applied>`${sql.join(tables, sql` union all `)}`
    .execute(db)
    .catch(async (cause: unknown) => {
      if (!isDenied(cause) || db.isTransaction) throw cause;
      throw new Error(
        `the role ${await readRole(db)} may not read all tables: grant it select, insert, update and delete on all tables, and by default on those that the role which migrates creates`,
        { cause },
      );
    });
  return new Map(rows.map((row) => [row.name, row]));
}

/**
 * Records in a transaction that it has applied a migration. One that earlier versions must not run beside is also recorded where those
 * look that read only the table of Kysely.
 */
export async function recordApplied(db: Kysely<Schema>, name: string, requires: string | undefined): Promise<void> {
  const isOwn = name >= firstOwn;
  if (isOwn) {
    await sql`insert into migrations (name, requires) values (${name}, ${requires ?? null})`.execute(db);
    if (requires === undefined) return;
  }
  const { kysely } = await findTables(db);
  if (!kysely) {
    await sql`
      create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(db);
  }
  await sql`
    insert into kysely_migration (name, timestamp)
    values (${name}, to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`.execute(db);
}

/**
 * Returns the names of the applied migrations that this version does not know. It may run beside them.
 *
 * @throws DatabaseTooNewError when it may not.
 */
export function findNewer(applied: ReadonlyMap<string, Applied>, known: Migrations): string[] {
  const unknown = [...applied.values()].filter(({ name }) => !Object.hasOwn(known, name));
  const refusing = unknown.filter(({ requires }) => requires !== null && !Object.hasOwn(known, requires));
  if (refusing.length > 0) {
    const names = refusing.map(({ name }) => name).toSorted();
    const newest = Object.keys(known).at(-1);
    throw new DatabaseTooNewError(
      `the database is newer than this version of Tenantry can use: it has the migrations ${names.join(", ")}, and this version ends with ${newest}; start the version that migrated it, or a newer one`,
    );
  }
  return unknown.map(({ name }) => name).toSorted();
}
