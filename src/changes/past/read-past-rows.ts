// Reads the rows of an org as they were at a revision: those of today, with what has changed since undone. So what is recent costs little,
// and it can be done after the log was cut. What went together with the removal of something else has no entry of its own. Its last entry
// up to the revision has it, and whoever loads the rows leaves out those that refer to nothing: ids are never used again, so what
// was removed with something before does not come back.
import { type RawBuilder, type Transaction, sql } from "kysely";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import { isInThePast } from "../../database/partitions.ts";
import { readInChunks } from "../../database/read-in-chunks.ts";
import type { Schema } from "../../database/schema.ts";
import type { Moment } from "./find-moment.ts";

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
  { type, table, key, columns, isRemovedWithOthers }: LoggedTable,
  hasRemovals: boolean,
): RawBuilder<{ readonly row: object }> {
  const keys = key.map((_, index) => sql.ref(`key_${index}`));
  const isSame = (one: string, other: string, ofOther: readonly string[]) =>
    sql.join(
      keys.map((_, index) => sql`${sql.ref(`${one}.key_${index}`)} = ${sql.ref(`${other}.${ofOther[index] ?? ""}`)}`),
      sql` and `,
    );
  const ownKeys = keys.map((_, index) => `key_${index}`);
  const entries = (state: "before" | "after", condition: RawBuilder<unknown>) => sql`
    select revision, position, ${sql.join(key.map((column, index) => sql`${keyInLog(key, column)} as ${keys[index]}`))},
      case when ${sql.ref(state)} is not null then jsonb_build_object(${sql.join(
        columns.flatMap((column) => [sql.lit(column), sql`${sql.ref(state)} -> ${sql.lit(column)}`]),
      )}) end as row
    from changes
    where customer_id = ${org.customer_id} and org_id = ${org.id} and resource_type = ${type} and ${condition}
      and ${sql.raw(isInThePast)}`;
  const ordered = sql.join(keys);
  const isPresent = isInOrgOf(table, org);
  const removed = sql`
    union all
    select earlier.row from (
      select distinct on (${ordered}) * from (${entries("after", isUntil(moment))}) as entries
      order by ${ordered}, revision desc, position desc
    ) as earlier
    where earlier.row is not null
      and not exists (select from later where ${isSame("later", "earlier", ownKeys)})
      and not exists (select from ${sql.table(table)} where ${isPresent} and ${isSame("earlier", table, key)})`;
  return sql`
    with later as materialized (
      select distinct on (${ordered}) * from (${entries("before", isLater(moment))}) as entries
      order by ${ordered}, revision, position
    )
    select row from later where row is not null
    union all
    select jsonb_build_object(${sql.join(columns.flatMap((column) => [sql.lit(column), sql.ref(`${table}.${column}`)]))})
    from ${sql.table(table)}
    where ${isPresent} and not exists (select from later where ${isSame("later", table, key)})
    ${isRemovedWithOthers && hasRemovals ? removed : sql``}`;
}

function keyInLog(key: readonly string[], column: string): RawBuilder<unknown> {
  if (column === key.at(-1)) return sql`resource_id`;
  return sql`(coalesce(before, after) ->> ${sql.lit(column)})::uuid`;
}

/** The condition of entries up to a moment, and of no later partitions than are needed. */
function isUntil({ revision, time }: Moment): RawBuilder<unknown> {
  return sql`revision <= ${revision} and time <= ${time}::timestamptz + interval '1 month'`;
}

/** The condition of entries after a moment. Older partitions are not searched; the clock may have been set back by less than a month. */
export function isLater({ revision, time }: Moment): RawBuilder<unknown> {
  return sql`revision > ${revision} and time > ${time}::timestamptz - interval '1 month'`;
}
