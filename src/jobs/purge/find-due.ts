// Finds which tasks of the purge have something to do, and when the next one has, in one statement for all of them.
import { type RawBuilder, sql } from "kysely";
import { statementTime, timeText } from "../../database/clock.ts";
import type { Database } from "../../database/database.ts";
import { type Due, splitDue } from "../due.ts";
import type { PausedTask } from "./run-purge.ts";

interface DueTasks {
  /** Those that have something to do, in the order of a run. */
  readonly due: readonly PausedTask[];
  /** When that was found, by the database's clock. */
  readonly now: string;
  /** When another one will have something to do, in milliseconds from then, if that is known. */
  readonly nextInMs: number | undefined;
}

interface NextEnd extends Due {
  readonly kind: string;
  readonly now: string;
}

/** The name of the statement, which is planned once for each connection. */
const statement = "find_next_purges";

/**
 * Asks each task for its next end, outside of the scopes that it leaves out.
 *
 * @param aheadMs how long before their ends rows are looked for, in milliseconds. Nothing is known of what ends later.
 */
export async function findDueTasks(
  { reads, readPrepared }: Pick<Database, "reads" | "readPrepared">,
  tasks: readonly PausedTask[],
  aheadMs: number,
): Promise<DueTasks> {
  const { sql: text, parameters } = selectNextEnds(tasks, aheadMs).compile(reads);
  const rows = await readPrepared<NextEnd>(statement, text, parameters);
  const { items, nextInMs } = splitDue(rows);
  const kinds = new Set(items.map(({ kind }) => kind));
  return { due: tasks.filter(({ kind }) => kinds.has(kind)), now: rows[0]?.now ?? "", nextInMs };
}

function selectNextEnds(tasks: readonly PausedTask[], aheadMs: number): RawBuilder<NextEnd> {
  const until = sql<Date>`(${statementTime} + ${aheadMs}::float8 * interval '1 millisecond')`;
  const ends = tasks.flatMap(({ kind, selects, paused }) => {
    const search = { now: statementTime, until, leftOut: paused.list(), limit: 1 };
    return selects.map(
      (select) => sql`select ${sql.lit(kind)} as kind, (select ends from (${select(search)}) as first) as ends`,
    );
  });
  const inMs = (time: RawBuilder<unknown>) => sql`(extract(epoch from ${time}) * 1000)::float8`;
  return sql<NextEnd>`
    select kind, ${inMs(sql.ref("ends"))} as "dueMs", ${inMs(statementTime)} as "nowMs", ${timeText(statementTime)} as now
    from (${sql.join(ends, sql` union all `)}) as next where ends is not null order by ends`;
}
