// Builds and drops indexes while their tables are read and written. Such a statement is not part of a transaction: one that fails, or is
// killed, leaves an index that is not valid, which is dropped before the next try.
import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";
import { describeSession, watchStatements } from "./blockers.ts";
import type { Index } from "./migration.ts";
import type { MigrationRun } from "./migration-run.ts";

/** How often the log says what a statement waits for. It waits for all older transactions, and nobody waits behind it. */
const noticeEveryMs = 30_000;

export function createStatement({ name, definition, unique = false }: Index): string {
  return `create ${unique ? "unique " : ""}index concurrently ${name} ${definition}`;
}

export function dropStatement(name: string): string {
  return `drop index concurrently if exists ${name}`;
}

/**
 * Builds the indexes of tables without rows in a transaction. Those of partitioned tables are declared before, which has built them on the
 * partitions of a table without rows.
 */
export async function createIndexesOfEmpty(db: Kysely<Schema>, indexes: readonly Index[]): Promise<void> {
  for (const index of indexes.filter(({ isPartitioned }) => isPartitioned !== true))
    await sql.raw(createStatement(index).replace(" concurrently ", " ")).execute(db);
}

/** Drops the indexes of tables without rows in a transaction. */
export async function dropIndexesOfEmpty(db: Kysely<Schema>, names: readonly string[]): Promise<void> {
  for (const name of names) await sql.raw(dropStatement(name).replace(" concurrently ", " ")).execute(db);
}

/** Builds those of the indexes that are not there. */
export async function createIndexes(run: MigrationRun, indexes: readonly Index[]): Promise<void> {
  for (const index of indexes) {
    if (index.isPartitioned === true) await createOnPartitions(run, index);
    else await createIndex(run, index);
  }
}

async function createIndex(run: MigrationRun, index: Index): Promise<void> {
  const { name } = index;
  const isValid = await readIsValid(run.db, name);
  if (isValid === true) return;
  if (isValid === false) await dropIndexes(run, [name]);
  try {
    await runOutside(run, createStatement(index));
  } catch (error) {
    // One that is not valid slows down writes, and is unique for them.
    if (!run.signal.aborted) await dropIndexes(run, [name]).catch(() => {});
    throw error;
  }
}

/** Builds an index on the partitions that lack it, one by one, and attaches each to the index of the table. */
async function createOnPartitions(run: MigrationRun, { name, definition }: Index): Promise<void> {
  const { rows } = await sql<{ table: string; partition: string }>`
    select tables.relname as table, partitions.relname as partition
    from pg_index join pg_class as tables on tables.oid = indrelid
      join pg_inherits on inhparent = indrelid join pg_class as partitions on partitions.oid = inhrelid
    where indexrelid = to_regclass(${name}) and not exists (
      select from pg_inherits as attached join pg_index as own on own.indexrelid = attached.inhrelid
      where attached.inhparent = to_regclass(${name}) and own.indrelid = partitions.oid)
    order by partitions.relname desc`.execute(run.db);
  for (const { table, partition } of rows) {
    const own = name.replace(table, partition);
    await createIndex(run, { name: own, definition: definition.replace(`on ${table}`, `on ${partition}`) });
    await runOutside(run, `alter index ${name} attach partition ${own}`);
  }
}

/** Drops those of the indexes that are there. */
export async function dropIndexes(run: MigrationRun, names: readonly string[]): Promise<void> {
  for (const name of names) await runOutside(run, dropStatement(name));
}

/** Returns undefined if there is no such index. */
async function readIsValid(db: Kysely<Schema>, name: string): Promise<boolean | undefined> {
  const { rows } = await sql<{ indisvalid: boolean }>`
    select indisvalid from pg_index where indexrelid = to_regclass(${name})`.execute(db);
  return rows[0]?.indisvalid;
}

async function runOutside(run: MigrationRun, text: string): Promise<void> {
  const watch = watchStatements(run, {
    waiting: sql<boolean>`
      waiting.query = ${text} and waiting.state = 'active' and waiting.datname = current_database()
      and waiting.usename = current_user`,
    everyMs: noticeEveryMs,
    onBlocked: (blockers) =>
      run.logger?.warn(
        { statement: text, blockers },
        `an index waits for older transactions to end: ${blockers.map(describeSession).join("; ")}`,
      ),
  });
  try {
    await sql.raw(text).execute(run.db);
  } finally {
    await watch.stop();
  }
}
