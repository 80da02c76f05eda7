// Reads the rows of an org as they were at a revision: those of today, with what has changed since undone. So what is recent costs little,
// and it can be done after the log was cut. What went together with the removal of something else has no entry of its own. Its last entry
// up to the revision has it, and whoever loads the rows leaves out those that refer to nothing: ids are never used again, so what
// was removed with something before does not come back.
import { type Expression, type RawBuilder, type SqlBool, type Transaction, sql } from "kysely";
import { type OrgKey, customerColumnOf, isInOrgOf } from "../../database/org-key.ts";
import { readInChunks } from "../../database/read-in-chunks.ts";
import type { Schema } from "../../database/schema.ts";
import { type Moment, isLater, isUntil } from "./find-moment.ts";

/** A table whose rows the log has, under a type. */
export interface LoggedTable {
  readonly type: string;
  readonly table: keyof Schema;
  /** The columns of its key, besides that of the org. The last one is the id in the log. */
  readonly key: readonly string[];
  /** What is read of each row: all in the log, under the same names. */
  readonly columns: readonly string[];
  /** How many rows are read at once. It is lower where they are large. */
  readonly chunkSize: number;
  /** Whether its rows are removed with others, without an entry of their own. */
  readonly isRemovedWithOthers: boolean;
}

/**
 * Yields the rows in chunks, in no order.
 *
 * @param db a transaction of its own that reads one snapshot. It is not to be used for something else meanwhile.
 * @param hasRemovals whether something to which rows refer was removed since the moment.
 */
export async function* readPastRows(
  db: Transaction<Schema>,
  org: OrgKey,
  moment: Moment,
  table: LoggedTable,
  hasRemovals: boolean,
): AsyncIterable<readonly object[]> {
  const select = selectPast(org, moment, table, hasRemovals);
  for await (const rows of readInChunks(db, select, table.chunkSize)) yield rows.map(({ row }) => row);
}

function selectPast(
  org: OrgKey,
  moment: Moment,
  logged: LoggedTable,
  hasRemovals: boolean,
): RawBuilder<{ readonly row: object }> {
  const { table, columns } = logged;
  const { later, fromLog, isSince } = pastParts(org, moment, logged, hasRemovals, (state) =>
    objectOf(columns, (column) => sql`${sql.ref(state)} -> ${sql.lit(column)}`),
  );
  return sql`
    with later as materialized (${later})
    ${fromLog}
    union all
    select ${objectOf(columns, (column) => sql.ref(`${table}.${column}`))} from ${sql.table(table)}
    where ${isInOrgOf(table, org)} and not ${isSince}`;
}

/** A table whose rows of then are read as if it were the table. */
export interface PastTable extends Omit<LoggedTable, "chunkSize" | "columns"> {
  /** The condition of a row from the log, `was`. */
  readonly isShown?: RawBuilder<SqlBool> | undefined;
}

/**
 * Selects the rows of an org as they were, with the columns of the table. A statement that has this, under the name of the table, as a
 * common table expression, answers as of then.
 */
export function selectPastTable(
  org: OrgKey,
  moment: Moment,
  logged: PastTable,
  hasRemovals: boolean,
): RawBuilder<unknown> {
  const { table, isShown = sql<SqlBool>`true` } = logged;
  const { later, fromLog, isSince } = pastParts(org, moment, logged, hasRemovals, (state) => sql.ref(state));
  const customer = customerColumnOf(table);
  const unlogged = customer === undefined ? {} : { [customer]: org.customer_id };
  return sql`
    with later as materialized (${later})
    select was.* from (${fromLog}) as logged
    cross join lateral jsonb_populate_record(
      null::${sql.table(table)}, logged.row || ${JSON.stringify(unlogged)}::jsonb
    ) as was
    where ${isShown}
    union all
    select ${sql.table(table)}.* from ${sql.table(table)}
    where ${isInOrgOf(table, org)} and not ${isSince}`;
}

interface PastParts {
  /** Of each row that has changed since, its key and what it was; null if it was not there. To be known as `later`. */
  readonly later: RawBuilder<unknown>;
  /** Selects what the log has of rows of then. Uses `later`. */
  readonly fromLog: RawBuilder<{ readonly row: object }>;
  /** The condition of a row of the table that it has changed since. Uses `later`. */
  readonly isSince: RawBuilder<SqlBool>;
}

/** @param read what is read of a state in the log, which is not null. */
function pastParts(
  org: OrgKey,
  moment: Moment,
  { type, table, key, isRemovedWithOthers }: Pick<LoggedTable, "type" | "table" | "key" | "isRemovedWithOthers">,
  hasRemovals: boolean,
  read: (state: "before" | "after") => RawBuilder<unknown>,
): PastParts {
  const keys = key.map((_, index) => sql.ref(`key_${index}`));
  const isSame = (one: string, other: string, ofOther: readonly string[]) =>
    sql.join(
      keys.map((_, index) => sql`${sql.ref(`${one}.key_${index}`)} = ${sql.ref(`${other}.${ofOther[index] ?? ""}`)}`),
      sql` and `,
    );
  const ownKeys = keys.map((_, index) => `key_${index}`);
  const entries = (state: "before" | "after", condition: RawBuilder<unknown>) => sql`
    select revision, position, ${sql.join(key.map((column, index) => sql`${keyInLog(key, column)} as ${keys[index]}`))},
      case when ${sql.ref(state)} is not null then ${read(state)} end as row
    from changes
    where customer_id = ${org.customer_id} and org_id = ${org.id} and resource_type = ${type} and ${condition}`;
  const ordered = sql.join(keys);
  const removed = sql`
    union all
    select earlier.row from (
      select distinct on (${ordered}) * from (${entries("after", isUntil(moment))}) as entries
      order by ${ordered}, revision desc, position desc
    ) as earlier
    where earlier.row is not null
      and not exists (select from later where ${isSame("later", "earlier", ownKeys)})
      and not exists (select from ${sql.table(table)} where ${isInOrgOf(table, org)} and ${isSame("earlier", table, key)})`;
  return {
    later: sql`
      select distinct on (${ordered}) * from (${entries("before", isLater(moment))}) as entries
      order by ${ordered}, revision, position`,
    fromLog: sql`
      select row from later where row is not null
      ${isRemovedWithOthers && hasRemovals ? removed : sql``}`,
    isSince: sql<SqlBool>`exists (select from later where ${isSame("later", table, key)})`,
  };
}

function objectOf(columns: readonly string[], valueOf: (column: string) => RawBuilder<unknown> | Expression<unknown>) {
  return sql`jsonb_build_object(${sql.join(columns.flatMap((column) => [sql.lit(column), valueOf(column)]))})`;
}

function keyInLog(key: readonly string[], column: string): RawBuilder<unknown> {
  if (column === key.at(-1)) return sql`resource_id`;
  return sql`(coalesce(before, after) ->> ${sql.lit(column)})::uuid`;
}
