// The change log is partitioned by month, in UTC, so that old entries are removed without a search. Whoever migrates creates the
// partitions of two years. Servers whose role owns the log go on with that, and drop the partitions that are past the retention; an
// advisory lock keeps them from doing it at once.
import { type Kysely, sql } from "kysely";
import type { Database } from "./database.ts";
import type { Schema } from "./schema.ts";
import { tableExists } from "./table-exists.ts";

/** How many months ahead there are partitions. A write fails if the one for its time is missing. */
const monthsAhead = 24;

/** Any constant that nothing else locks. */
const lockKey = 6_410_297_355;

const lockMs = 1_000;

/**
 * The condition, in SQL, of entries that can be there: a search of the log leaves out the partitions of later months. The clock of the
 * database may have been set back by less.
 */
export const isInThePast = "time < now() + interval '1 month'";

/** What a server has to know to keep the partitions, or to say that somebody else must. */
export interface LogState {
  /** Whether the role may create and drop partitions. */
  readonly isOwner: boolean;
  /** How many months after this one have partitions. */
  readonly monthsLeft: number;
  /** How many partitions are past the retention. */
  readonly expired: number;
}

/** The months for which there should be partitions. */
const months = sql`
  generate_series(
    date_trunc('month', now() at time zone 'UTC'),
    date_trunc('month', now() at time zone 'UTC') + ${sql.lit(monthsAhead)} * interval '1 month',
    interval '1 month'
  ) as month`;

/**
 * The partitions whose entries are all older than some days. Their names are compared, and not read as dates: the planner may look at the
 * names of all relations first, and fail at one that is no date.
 */
const expiredPartitions = (retentionDays: number) => sql`
  pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = 'changes'::regclass
    and relname::text collate "C" <= 'changes_' || to_char(
      date_trunc('month', now() at time zone 'UTC' - make_interval(days => ${retentionDays})) - interval '1 month', 'YYYY_MM')`;

/** The month of the oldest partition, in SQL: `2026_01`. Null if there is none. One that is being detached is not read any more. */
export const oldestMonth = sql<string | null>`(
  select substr(min(relname::text collate "C"), 9) from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = 'changes'::regclass and not inhdetachpending)`;

export async function readLogState(db: Kysely<Schema>, retentionDays: number): Promise<LogState> {
  const { rows } = await sql<LogState>`
    select
      (select pg_has_role(relowner, 'usage') from pg_class where oid = 'changes'::regclass)
        and has_schema_privilege(current_schema(), 'create') as "isOwner",
      (select count(*)::integer - 1 from ${months}
        where ${tableExists(sql`'changes_' || to_char(month, 'YYYY_MM')`)}) as "monthsLeft",
      (select count(*)::integer from ${expiredPartitions(retentionDays)}) as expired`.execute(db);
  return rows[0] ?? { isOwner: false, monthsLeft: 0, expired: 0 };
}

/** Creates the partitions of this month and the next ones, if the role may. Returns the names of those that were created. */
export async function createPartitions(db: Kysely<Schema>): Promise<string[]> {
  const missing = await findMissing(db);
  const { isOwner } = missing.length === 0 ? { isOwner: false } : await readLogState(db, 0);
  if (!isOwner) return [];
  return db.transaction().execute(async (transaction) => {
    await sql`
      select pg_advisory_xact_lock(${lockKey}), set_config('lock_timeout', ${`${lockMs}ms`}, true)`.execute(
      transaction,
    );
    const rows = await findMissing(transaction);
    for (const month of rows) await createPartition(transaction, month);
    return rows.map(({ name }) => name);
  });
}

/**
 * Creates the partitions of months that are missing, in a transaction that nobody else can see yet.
 *
 * @param given the months: `2026_11`.
 */
export async function createPartitionsOf(db: Kysely<Schema>, given: readonly string[]): Promise<void> {
  const { rows } = await sql<Month>`
    select ${namesAndBounds} from (
      select to_date(given, 'YYYY_MM')::timestamp as month from unnest(${given}::text[]) as given) as months
    where not ${tableExists(sql`'changes_' || to_char(month, 'YYYY_MM')`)}
    order by name`.execute(db);
  for (const month of rows) await createPartition(db, month);
}

/** Returns the months of which there are partitions. */
export async function readPartitions(db: Kysely<Schema>): Promise<readonly string[]> {
  const { rows } = await sql<{ month: string }>`
    select substr(relname::text, 9) as month from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'changes'::regclass and not inhdetachpending order by 1`.execute(db);
  return rows.map(({ month }) => month);
}

async function createPartition(db: Kysely<Schema>, { name, start, end }: Month): Promise<void> {
  // To attach a table locks less than to create a partition: the log can be read and written meanwhile.
  await sql`create table ${sql.table(name)} (like changes including all)`.execute(db);
  await sql`
    alter table changes attach partition ${sql.table(name)}
      for values from (${sql.lit(start)}) to (${sql.lit(end)})`.execute(db);
}

interface Month {
  readonly name: string;
  readonly start: string;
  readonly end: string;
}

/** Of a column `month`. */
const namesAndBounds = sql`
  'changes_' || to_char(month, 'YYYY_MM') as name,
  to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00' as start,
  to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00' as "end"`;

async function findMissing(db: Kysely<Schema>): Promise<Month[]> {
  const { rows } = await sql<Month>`
    select name, start, "end" from (select ${namesAndBounds} from ${months}) as named
    where not ${tableExists(sql`named.name`)}
    order by name`.execute(db);
  return rows;
}

/** Drops the partitions whose entries are all older than this many days. Returns the names of those that were dropped. */
export function dropPartitions(
  { reads, writes }: Pick<Database, "reads" | "writes">,
  retentionDays: number,
): Promise<string[]> {
  return writes.transaction().execute(async (db) => {
    const { rows: locks } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(${lockKey}) as locked`.execute(db);
    if (locks[0]?.locked !== true) return [];
    const { rows } = await sql<{ name: string; pending: boolean }>`
      select relname as name, inhdetachpending as pending from ${expiredPartitions(retentionDays)} order by 1`.execute(
      db,
    );
    for (const { name, pending } of rows) {
      // Outside of the transaction: a concurrent detachment waits for running transactions that use the log, and blocks none.
      const mode = sql.raw(pending ? "finalize" : "concurrently");
      await sql`alter table changes detach partition ${sql.table(name)} ${mode}`.execute(reads);
      await sql`drop table ${sql.table(name)}`.execute(reads);
    }
    return rows.map(({ name }) => name);
  });
}
