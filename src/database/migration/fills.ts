// A fill sets columns of the rows that exist, some at a time, each in a transaction of its own. The key of the last row is kept with
// them, so a fill goes on where it was when its server ended.
import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { isLockTimeout, isRetryable } from "../failure.ts";
import type { Schema } from "../schema.ts";
import type { Fill } from "./migration.ts";
import type { MigrationRun } from "./migration-run.ts";

/** What a batch did: rows may be left, none is left, or another server is at it. */
export type BatchOutcome = "filled" | "ended" | "busy";

const rowsPerBatch = 1_000;
const lockMs = 1_000;
const busyMs = 200;

/** How often the log says how far a fill is that a migration waits for. */
const noticeEveryMs = 30_000;

/** Lets the servers begin with a fill. */
export async function beginFill(db: Kysely<Schema>, name: string): Promise<void> {
  await sql`insert into fills (name) values (${name})`.execute(db);
}

/** Records a fill of a table without rows. */
export async function endFill(db: Kysely<Schema>, name: string): Promise<void> {
  await sql`insert into fills (name, end_time) values (${name}, now())`.execute(db);
}

/** Returns the names of the fills that have not ended. */
export async function listOpenFills(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from fills where end_time is null order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Fills the rows that come next. May fail because of a lock, and is then to be tried again. */
export function fillBatch(db: Kysely<Schema>, name: string, fill: Fill, limit = rowsPerBatch): Promise<BatchOutcome> {
  return db.transaction().execute(async (transaction) => {
    // The planner takes the rows between two keys for a third of the table.
    await sql`
      select set_config('lock_timeout', ${`${lockMs}ms`}, true), set_config('enable_seqscan', 'off', true)`.execute(
      transaction,
    );
    const { rows } = await sql<{ last_key: string[] | null }>`
      select last_key from fills where name = ${name} and end_time is null for update skip locked`.execute(transaction);
    const [state] = rows;
    if (state === undefined) return (await listOpenFills(transaction)).includes(name) ? "busy" : "ended";

    const after = rowsBeyond(fill, ">", state.last_key);
    const lastKey = await findLastKey(transaction, fill, after, limit);
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(fill.table)} set ${sql.raw(fill.set)}
      where ${after} and ${rowsBeyond(fill, "<=", lastKey)} and (${sql.raw(fill.where)})`.execute(transaction);
    await sql`
      update fills set last_key = coalesce(${lastKey}, last_key), rows = rows + ${numAffectedRows}, update_time = now(),
        end_time = ${lastKey === null ? sql`now()` : null}
      where name = ${name}`.execute(transaction);
    return lastKey === null ? "ended" : "filled";
  });
}

/** Returns the key of the last row of a batch; null if fewer rows than a batch are left. */
async function findLastKey(
  db: Kysely<Schema>,
  { table, key }: Fill,
  after: RawBuilder<unknown>,
  limit: number,
): Promise<string[] | null> {
  const texts = sql.join(key.map((column) => sql`${sql.ref(column)}::text`));
  const { rows } = await sql<{ key: string[] }>`
    select array[${texts}] as key from ${sql.table(table)} where ${after}
    order by ${sql.join(key.map((column) => sql.ref(column)))} offset ${limit - 1} limit 1`.execute(db);
  return rows[0]?.key ?? null;
}

function rowsBeyond({ key }: Fill, operator: ">" | "<=", values: readonly string[] | null): RawBuilder<unknown> {
  if (values === null) return sql`true`;
  return sql`(${sql.join(key.map((column) => sql.ref(column)))}) ${sql.raw(operator)} (${sql.join(values)})`;
}

/** Fills what is left, with the servers that are at it, too. */
export async function finishFill(
  { db, logger, signal, limits }: MigrationRun,
  name: string,
  fill: Fill,
): Promise<void> {
  let noticeAt = performance.now() + noticeEveryMs;
  for (let failures = 0; ;) {
    signal.throwIfAborted();
    try {
      const outcome = await fillBatch(db, name, fill);
      if (outcome === "ended") return;
      failures = 0;
      if (outcome === "busy") await sleep(busyMs);
    } catch (error) {
      failures++;
      if (failures === limits.tries || !(isLockTimeout(error) || isRetryable(error))) throw error;
      await sleep(limits.pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    if (performance.now() >= noticeAt) {
      noticeAt = performance.now() + noticeEveryMs;
      const { rows } = await sql<{ rows: string }>`select rows from fills where name = ${name}`.execute(db);
      logger?.warn({ fill: name, rows: rows[0]?.rows }, "a migration waits for the end of a fill");
    }
  }
}
