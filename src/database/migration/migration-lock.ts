// One server migrates at a time. The lock is one of the transaction: behind a pooler, a lock of the session would stay with a connection
// that another client gets next. Nobody waits for it in a statement, because indexes are only built when older statements have ended.
import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "../schema.ts";
import { type Session, describeSession, sessionColumns } from "./blockers.ts";
import type { MigrationRun } from "./migration-run.ts";

/** The key of Kysely's migrator, with which versions before 0040-migration-runner migrate: they and this one exclude each other. */
const lockKey = sql`3853314791062309107::bigint`;

const holdsLock = sql`
  locktype = 'advisory' and granted and objsubid = 1
  and database = (select oid from pg_database where datname = current_database())
  and classid::bigint = ${lockKey} >> 32 and objid::bigint = ${lockKey} & 4294967295`;

const pollMs = 250;

/** How often a server that waits says so. */
const noticeEveryMs = 30_000;

/** A transaction that has the lock. */
export interface Locked {
  readonly db: Kysely<Schema>;
  /** A condition on `pg_stat_activity`, as `waiting`, that selects its session. */
  readonly waiting: RawBuilder<boolean>;
}

/** Runs something in a transaction that has the lock. Waits for the lock for as long as another server has it. */
export async function underMigrationLock<Result>(
  { db, logger, signal, limits }: MigrationRun,
  body: (locked: Locked) => Promise<Result>,
): Promise<Result> {
  let noticeAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    // Another level would keep a snapshot, for whose end an index waits.
    const transactions = db.transaction().setIsolationLevel("read committed");
    const done = await transactions.execute(async (transaction) => {
      const { isLocked, pid } = await tryLock(transaction, limits.lockMs);
      if (!isLocked) return undefined;
      const waiting = sql<boolean>`
        waiting.pid = ${pid}::integer and exists (select from pg_locks where pg_locks.pid = waiting.pid and ${holdsLock})`;
      return { result: await body({ db: transaction, waiting }) };
    });
    if (done !== undefined) return done.result;
    if (performance.now() >= noticeAt) {
      noticeAt = performance.now() + noticeEveryMs;
      const holders = await readHolders(db);
      const who = holders.map(describeSession).join("; ");
      logger?.warn(
        { holders },
        `waiting for another server that migrates the database${who === "" ? "" : `: ${who}`}; if one of these is idle for long, a pooler has kept it: end it with pg_terminate_backend`,
      );
    }
    await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

async function tryLock(
  db: Kysely<Schema>,
  lockMs: number,
): Promise<{ readonly isLocked: boolean; readonly pid: number }> {
  const { rows } = await sql<{ isLocked: boolean; pid: number }>`
    select pg_try_advisory_xact_lock(${lockKey}) as "isLocked", pg_backend_pid() as pid,
      set_config('lock_timeout', ${`${lockMs}ms`}, true),
      set_config('statement_timeout', '0', true),
      set_config('idle_in_transaction_session_timeout', '0', true)`.execute(db);
  return rows[0] ?? { isLocked: false, pid: 0 };
}

/** Returns the sessions that have the lock. */
async function readHolders(db: Kysely<Schema>): Promise<Session[]> {
  const { rows } = await sql<Session>`
    select ${sessionColumns} from pg_locks join pg_stat_activity as session using (pid) where ${holdsLock}`.execute(db);
  return rows;
}
