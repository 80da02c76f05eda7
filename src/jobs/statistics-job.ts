// The job that has PostgreSQL analyse tables that have grown a lot. Its autovacuum looks once a minute. Until then, connections keep
// the plans that they made while the table was small, when any index of an org seemed as good as the one of the key: with those, a
// lookup by name in an org with 20,000 new members reads half of them.
import { sql } from "kysely";
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { type PeriodicJob, createPeriodicJob } from "./periodic-job.ts";

interface StatisticsJobOptions {
  readonly database: Database;
  /** How long to wait between two runs. */
  readonly intervalMs: number;
  readonly logger: Logger;
}

/** A table of this size has some 300 rows. */
const smallPages = 8;

/**
 * Every server runs it. What a table had when it was analysed last is known to PostgreSQL, so they do it once, each time that the
 * table has doubled. A role that does not own the tables leaves them to autovacuum.
 */
export function createStatisticsJob({ database, intervalMs, logger }: StatisticsJobOptions): PeriodicJob {
  const find = async (): Promise<string[]> => {
    // Partitions of the change log are read by their key only.
    const { rows } = await sql<{ name: string }>`
      select oid::regclass::text as name from pg_class
      where relkind = 'r' and not relispartition and relnamespace = current_schema()::regnamespace
        and pg_has_role(relowner, 'usage')
        and pg_relation_size(oid) / current_setting('block_size')::int > 2 * relpages + ${smallPages}`.execute(
      database.reads,
    );
    return rows.map(({ name }) => name);
  };
  const work = async (name: string): Promise<number> => {
    await sql`analyze (skip_locked) ${sql.raw(name)}`.execute(database.reads);
    return 1;
  };
  return createPeriodicJob({ find, work, intervalMs, logger, failure: "failed to analyse tables that have grown" });
}
