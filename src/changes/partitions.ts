// The change log is partitioned by month, in UTC, so that old entries are removed without a search. Every server creates the
// partitions of the next months and drops those that are past the retention; an advisory lock keeps them from doing it at once.
import { sql } from "kysely";
import type { Database } from "../database/database.ts";

/** How many months ahead there are partitions. A write fails if the one for its time is missing. */
const monthsAhead = 3;

/** Any constant that nothing else locks. */
const lockKey = 6_410_297_355;

/** Creates the partitions of this month and the next ones. Returns the names of those that were created. */
export function createPartitions({ writes }: Database): Promise<string[]> {
  return writes.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(${lockKey})`.execute(db);
    const { rows } = await sql<{ name: string; start: string; end: string }>`
      select name, start, "end" from (
        select 'changes_' || to_char(month, 'YYYY_MM') as name,
          to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00' as start,
          to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00' as "end"
        from generate_series(
          date_trunc('month', now() at time zone 'UTC'),
          date_trunc('month', now() at time zone 'UTC') + ${monthsAhead} * interval '1 month',
          interval '1 month'
        ) as month
      ) as months
      where to_regclass(name) is null`.execute(db);
    for (const { name, start, end } of rows) {
      // To attach a table locks less than to create a partition: the log can be read and written meanwhile.
      await sql`create table ${sql.table(name)} (like changes including all)`.execute(db);
      await sql`
        alter table changes attach partition ${sql.table(name)}
          for values from (${sql.lit(start)}) to (${sql.lit(end)})`.execute(db);
    }
    return rows.map(({ name }) => name);
  });
}

/** Drops the partitions whose entries are all older than this many days. Returns the names of those that were dropped. */
export function dropPartitions({ reads, writes }: Database, retentionDays: number): Promise<string[]> {
  return writes.transaction().execute(async (db) => {
    const { rows: locks } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(${lockKey}) as locked`.execute(db);
    if (locks[0]?.locked !== true) return [];
    const { rows } = await sql<{ name: string; pending: boolean }>`
      select relname as name, inhdetachpending as pending
      from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'changes'::regclass
        and to_date(right(relname, 7), 'YYYY_MM') + interval '1 month' <= now() at time zone 'UTC' - make_interval(days => ${retentionDays})
      order by 1`.execute(db);
    for (const { name, pending } of rows) {
      // Outside of the transaction: a concurrent detachment waits for running transactions that use the log, and blocks none.
      const mode = sql.raw(pending ? "finalize" : "concurrently");
      await sql`alter table changes detach partition ${sql.table(name)} ${mode}`.execute(reads);
      await sql`drop table ${sql.table(name)}`.execute(reads);
    }
    return rows.map(({ name }) => name);
  });
}
