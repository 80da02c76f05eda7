// The job that has PostgreSQL analyse tables that have grown a lot. Its autovacuum looks once a minute. Until then, connections keep
// the plans that they made while the table was small, when any index of an org seemed as good as the one of the key: with those, a
// lookup by name in an org with 20,000 new members reads half of them.
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { isLockTimeout } from "../database/failure.ts";
import { type StatementLimits, analysisLimits, searchLimits, settingsOf } from "../database/transaction-limits.ts";
import { createPauses } from "./pauses.ts";
import { createLooks } from "./looks.ts";
import { type Found, type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface StatisticsJobOptions {
  readonly database: Database;
  readonly intervalMs: number;
  readonly logger: Logger;
  readonly limits?: StatementLimits;
  /** A monotonic clock, in milliseconds. */
  readonly clock?: () => number;
}

/** How often a server looks that writes nothing. */
const rarelyMs = 3_600_000;

/** A table with fewer rows is read as fast with any plan. */
const smallRows = 300;

/** While a table is locked, such as by VACUUM FULL, a try costs next to nothing. */
const pausesWhenLocked = { firstMs: 1_000, longestMs: 60_000 };

/** An analysis that reached its limit has read for minutes. */
const pausesAfterFailure = { firstMs: 60_000, longestMs: 3_600_000 };

/**
 * Finds tables whose rows have doubled since they were analysed, as PostgreSQL has counted them. To ask for the size of a table
 * would wait for locks on it. Partitions of the change log are read by their key only.
 */
const grownTables = `
  select oid::regclass::text as name from pg_class
  where relkind = 'r' and not relispartition and relnamespace = current_schema()::regnamespace
    and pg_has_role(relowner, 'usage')
    and pg_stat_get_live_tuples(oid) > 2 * greatest(reltuples, 0) + ${smallRows}`;

/** Whether this transaction has analysed a table: a locked one is skipped without an error. */
const isAnalysed = "select pg_stat_get_last_analyze_time($1::text::regclass) >= now() as analysed";

/**
 * Every server runs it. What a table had when it was analysed last is known to PostgreSQL, so they do it once, each time that the
 * table has doubled. A role that does not own the tables leaves them to autovacuum.
 */
export function createStatisticsJob(options: StatisticsJobOptions): PeriodicJob {
  const { database, intervalMs, logger, limits = analysisLimits, clock = () => performance.now() } = options;
  const pauses = createPauses(clock);

  // Tables grow by what is written. What other servers write, they look at. PostgreSQL counts rows some seconds after they were written.
  const looks = createLooks({ writes: database.activity.writes, longestMs: rarelyMs, clock });

  const find = async (): Promise<Found<string>> => {
    const search = [{ text: grownTables, values: [], isKept: true }];
    const [rows] = await database.readTogether(search, () => settingsOf(searchLimits));
    const names = (rows as { name: string }[]).map(({ name }) => name);
    pauses.keep(names);
    const items = names.filter((name) => pauses.isOver(name));
    return items.length < names.length ? { items, nextInMs: intervalMs } : { items };
  };

  const work = async (name: string): Promise<number> => {
    try {
      if (await analyse(database, name, limits)) {
        pauses.forget(name);
        return 1;
      }
      pauses.begin(name, pausesWhenLocked);
    } catch (error) {
      const isLocked = isLockTimeout(error);
      pauses.begin(name, isLocked ? pausesWhenLocked : pausesAfterFailure);
      if (!isLocked) throw error;
    }
    return 0;
  };
  return createPeriodicJob({
    find,
    work,
    intervalMs,
    looks,
    logger,
    failure: "failed to analyse tables that have grown",
  });
}

/** Analyses a table. Returns whether it did: not if the table is locked. */
async function analyse(database: Database, name: string, limits: StatementLimits): Promise<boolean> {
  const statements = [
    { text: `analyze (skip_locked) ${name}`, values: [], isKept: false },
    { text: isAnalysed, values: [name], isKept: false },
  ];
  const [, rows] = await database.maintain(statements, () => settingsOf(limits));
  return (rows as { analysed: boolean | null }[])[0]?.analysed === true;
}
