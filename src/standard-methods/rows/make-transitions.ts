import { type SqlBool, type Updateable, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import type { TypedDefinition, ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { Transition } from "../definition/lifecycle.ts";
import { required } from "../../errors/required.ts";
import { addToCounts } from "./counts.ts";
import { type StoredRow, type WriteTarget, countByParent } from "./insert-rows.ts";
import { isOneIn, keyOf } from "./row-key.ts";

/** A transition to apply to rows. */
export interface MadeTransition<Table extends ResourceTable> {
  readonly transition: Transition;
  /** The number of days during which a deleted resource can be undeleted. */
  readonly retentionDays: number;
  /** The resource's own columns that the transition changes. */
  readonly columns?: Updateable<Schema[Table]>;
}

interface Transitioned<Row> {
  /** The rows after the transition, in order, without rows whose purge time has passed. */
  readonly rows: Row[];
  /** The new counts of the parents whose count changed, by parent id. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Writes a transition of rows, which are all in the same org or in none. */
export async function makeTransitions<Table extends ResourceTable, Row extends ResourceRow>(
  { db, org, revision, time }: WriteTarget,
  definition: TypedDefinition<Table, Row>,
  rows: readonly Row[],
  { transition, retentionDays, columns = {} }: MadeTransition<Table>,
): Promise<Transitioned<Row>> {
  const { type, storage } = definition;
  if (rows.length === 0) return { rows: [], counts: new Map() };
  // Kysely types a statement for a specific table; this one is written for members and works for all tables.
  const updated = await db
    .updateTable(storage.table as "members")
    .set({ ...columnsOf(transition, retentionDays, time), ...columns, changed_revision: revision, update_time: time })
    .where(isOneIn(definition, org, rows))
    .$if(transition === "undelete", (query) => query.where(sql<SqlBool>`purge_time > ${time}::timestamptz`))
    .returning(storage.columns as never)
    .execute();
  const byKey = new Map(updated.map((row) => [keyOf(definition, row), row as unknown as StoredRow<Table>]));
  const made = rows
    .filter((row) => byKey.has(keyOf(definition, row)))
    .map((row) => ({ ...row, ...required(byKey.get(keyOf(definition, row))) }));
  const difference = differenceOf(transition);
  const counted = difference === 0 ? new Map<string, number>() : countByParent(definition, made, difference);
  if (counted.size === 0) return { rows: made, counts: counted };
  return { rows: made, counts: await addToCounts(db, type, required(org), counted) };
}

/** Returns the change of a count. Deleted resources are not counted. */
function differenceOf(transition: Transition): 1 | -1 | 0 {
  switch (transition) {
    case "delete":
      return -1;
    case "undelete":
      return 1;
    case "suspend":
    case "activate":
    case "purge":
      return 0;
  }
}

function columnsOf(transition: Transition, retentionDays: number, time: string) {
  switch (transition) {
    case "delete":
      return {
        delete_time: time,
        purge_time: sql<Date>`${time}::timestamptz + make_interval(days => ${retentionDays})`,
      };
    case "undelete":
      return { delete_time: null, purge_time: null };
    case "suspend":
      return { state: "SUSPENDED" } as const;
    case "activate":
      return { state: "ACTIVE" } as const;
    case "purge":
      // A purge is permanent: a row whose purge time has passed keeps it.
      return { purge_time: sql<Date>`least(purge_time, ${time}::timestamptz)` };
  }
}
