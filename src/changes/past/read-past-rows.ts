// Reads the rows of an org as they were at a revision: those of today, with what has changed since undone. So what is recent costs little,
// and it can be done after the log was cut. What went together with the removal of something else has no entry of its own. Its last entry
// up to the revision has it, and whoever loads the rows leaves out those that refer to nothing: ids are never used again, so what
// was removed with something before does not come back. Where a state of the org is kept that is nearer, its rows are taken instead, with
// what had changed from there to the revision; what was removed with something else meanwhile refers to nothing, too.
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

/** What rows as of a moment are read from. */
export interface PastBase {
  /** The kept state whose rows are taken, at the moment or before it; undefined for the rows of today. */
  readonly state: Moment | undefined;
  /** Whether something to which rows refer was removed between the moment and what the rows are taken from. */
  readonly hasRemovals: boolean;
}

/**
 * Yields the rows in chunks, in no order.
 *
 * @param db a transaction of its own that reads one snapshot. It is not to be used for something else meanwhile.
 */
export async function* readPastRows(
  db: Transaction<Schema>,
  org: OrgKey,
  moment: Moment,
  table: LoggedTable,
  base: PastBase,
): AsyncIterable<readonly object[]> {
  const select = selectPast(org, moment, table, base);
  for await (const rows of readInChunks(db, select, table.chunkSize)) yield rows.map(({ row }) => row);
}

function selectPast(
  org: OrgKey,
  moment: Moment,
  logged: LoggedTable,
  base: PastBase,
): RawBuilder<{ readonly row: object }> {
  const { table, columns } = logged;
  const ofJson = (row: RawBuilder<unknown>) => objectOf(columns, (column) => sql`${row} -> ${sql.lit(column)}`);
  const { changed, fromLog, fromState, isChanged } = pastParts(org, moment, logged, base, ofJson);
  const unchanged =
    base.state === undefined
      ? sql`
        select ${objectOf(columns, (column) => sql.ref(`${table}.${column}`))} from ${sql.table(table)}
        where ${isInOrgOf(table, org)} and not ${isChanged}`
      : fromState(base.state, ofJson);
  return sql`with changed as materialized (${changed}) ${fromLog} union all ${unchanged}`;
}

/** A table whose rows of then are read as if it were the table. */
export interface PastTable extends Omit<LoggedTable, "chunkSize" | "columns"> {
  /** The condition of a row that is not one of today, `was`. */
  readonly isShown?: RawBuilder<SqlBool> | undefined;
}

/**
 * Selects the rows of an org as they were, with the columns of the table. A statement that has this, under the name of the table, as a
 * common table expression, answers as of then.
 */
export function selectPastTable(org: OrgKey, moment: Moment, logged: PastTable, base: PastBase): RawBuilder<unknown> {
  const { table, isShown = sql<SqlBool>`true` } = logged;
  const whole = (row: RawBuilder<unknown>) => row;
  const { changed, fromLog, fromState, isChanged } = pastParts(org, moment, logged, base, whole);
  const customer = customerColumnOf(table);
  const unlogged = customer === undefined ? {} : { [customer]: org.customer_id };
  const unchanged = sql`
    select ${sql.table(table)}.* from ${sql.table(table)}
    where ${isInOrgOf(table, org)} and not ${isChanged}`;
  return sql`
    with changed as materialized (${changed})
    select was.* from (${fromLog} ${base.state === undefined ? sql`` : sql`union all ${fromState(base.state, whole)}`}) as logged
    cross join lateral jsonb_populate_record(
      null::${sql.table(table)}, logged.row || ${JSON.stringify(unlogged)}::jsonb
    ) as was
    where ${isShown}
    ${base.state === undefined ? sql`union all ${unchanged}` : sql``}`;
}

/** Returns what is read of a row in JSON, which is not null. */
type Read = (row: RawBuilder<unknown>) => RawBuilder<unknown>;

interface PastParts {
  /**
   * Of each row that has changed between the moment and what the rows are taken from, its key and what it was; null if it was not there.
   * To be known as `changed`.
   */
  readonly changed: RawBuilder<unknown>;
  /** Selects what the log has of rows of then. Uses `changed`. */
  readonly fromLog: RawBuilder<{ readonly row: object }>;
  /** Selects the other rows of a kept state. Uses `changed`. */
  readonly fromState: (state: Moment, read: Read) => RawBuilder<unknown>;
  /** The condition of a row of the table that it has changed. Uses `changed`. */
  readonly isChanged: RawBuilder<SqlBool>;
}

function pastParts(
  org: OrgKey,
  moment: Moment,
  { type, table, key, isRemovedWithOthers }: Pick<LoggedTable, "type" | "table" | "key" | "isRemovedWithOthers">,
  { state, hasRemovals }: PastBase,
  read: Read,
): PastParts {
  const keys = key.map((_, index) => sql.ref(`key_${index}`));
  const isSame = (one: string, valueOf: (column: string, index: number) => RawBuilder<unknown>) =>
    sql.join(
      key.map((column, index) => sql`${sql.ref(`${one}.key_${index}`)} = ${valueOf(column, index)}`),
      sql` and `,
    );
  const inTable = (column: string) => sql`${sql.ref(`${table}.${column}`)}`;
  const entries = (of: "before" | "after", condition: RawBuilder<unknown>) => sql`
    select revision, position, ${sql.join(key.map((column, index) => sql`${keyInLog(key, column)} as ${keys[index]}`))},
      case when ${sql.ref(of)} is not null then ${read(sql`${sql.ref(of)}`)} end as row
    from changes
    where customer_id = ${org.customer_id} and org_id = ${org.id} and resource_type = ${type} and ${condition}`;
  const ordered = sql.join(keys);
  const first = (condition: RawBuilder<unknown>) => sql`
    select distinct on (${ordered}) * from (${entries("before", condition)}) as entries
    order by ${ordered}, revision, position`;
  const last = (condition: RawBuilder<unknown>) => sql`
    select distinct on (${ordered}) * from (${entries("after", condition)}) as entries
    order by ${ordered}, revision desc, position desc`;
  const inEarlier = (_: string, index: number) => sql`${sql.ref(`earlier.key_${index}`)}`;
  const removed = sql`
    union all
    select earlier.row from (${last(isUntil(moment))}) as earlier
    where earlier.row is not null
      and not exists (select from changed where ${isSame("changed", inEarlier)})
      and not exists (select from ${sql.table(table)} where ${isInOrgOf(table, org)} and ${isSame("earlier", inTable)})`;
  const isUndone = state === undefined;
  return {
    changed: isUndone ? first(isLater(moment)) : last(sql`${isLater(state)} and ${isUntil(moment)}`),
    fromLog: sql`
      select row from changed where row is not null
      ${isUndone && isRemovedWithOthers && hasRemovals ? removed : sql``}`,
    fromState: ({ revision }, readKept) => sql`
      select ${readKept(sql`kept.row`)} as row from (
        select jsonb_array_elements(rows) as row from past_states
        where customer_id = ${org.customer_id} and org_id = ${org.id} and resource_type = ${type} and revision = ${revision}
      ) as kept
      where not exists (
        select from changed where ${isSame("changed", (column) => sql`(kept.row ->> ${sql.lit(column)})::uuid`)}
      )`,
    isChanged: sql<SqlBool>`exists (select from changed where ${isSame("changed", inTable)})`,
  };
}

function objectOf(columns: readonly string[], valueOf: (column: string) => RawBuilder<unknown> | Expression<unknown>) {
  return sql`jsonb_build_object(${sql.join(columns.flatMap((column) => [sql.lit(column), valueOf(column)]))})`;
}

function keyInLog(key: readonly string[], column: string): RawBuilder<unknown> {
  if (column === key.at(-1)) return sql`resource_id`;
  return sql`(coalesce(before, after) ->> ${sql.lit(column)})::uuid`;
}
