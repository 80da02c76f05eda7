import { type SqlBool, type Updateable, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import type { TypedDefinition, ResourceRow, ResourceTable } from "../definition.ts";
import type { Transition } from "../lifecycle.ts";
import { required } from "../required.ts";
import { addToCounts } from "./counts.ts";
import { type StoredRow, type WriteTarget, countByParent } from "./insert-rows.ts";
import { isOneOf, keyOf } from "./row-key.ts";

/** What a transition makes of rows. */
export interface MadeTransition<Table extends ResourceTable> {
  readonly transition: Transition;
  /** How long what is deleted can be brought back. */
  readonly retentionDays: number;
  /** Columns of the resource's own that the transition changes. */
  readonly columns?: Updateable<Schema[Table]>;
}

interface Transitioned<Row> {
  /** The rows as they are then, in order; without those whose purge time has passed. */
  readonly rows: Row[];
  /** How many there are now in each parent that got one back, by its id. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Writes down what a transition makes of rows, all of one org if they are of any. */
export async function makeTransitions<Table extends ResourceTable, Row extends ResourceRow>(
  { db, orgId, revision }: WriteTarget,
  definition: TypedDefinition<Table, Row>,
  rows: readonly Row[],
  { transition, retentionDays, columns = {} }: MadeTransition<Table>,
): Promise<Transitioned<Row>> {
  const { type, storage } = definition;
  if (rows.length === 0) return { rows: [], counts: new Map() };
  // Kysely types a statement by its one table, so this is written for members and used for all.
  const updated = await db
    .updateTable(storage.table as "members")
    .set({ ...columnsOf(transition, retentionDays), ...columns, changed_revision: revision, update_time: sql`now()` })
    .where(isOneOf(definition, rows))
    // By the clock as it is: this transaction may have waited for its lock while the time passed.
    .$if(transition === "undelete", (query) => query.where(sql<SqlBool>`purge_time > clock_timestamp()`))
    .returning(storage.columns as never)
    .execute();
  const byKey = new Map(updated.map((row) => [keyOf(definition, row), row as unknown as StoredRow<Table>]));
  const made = rows
    .filter((row) => byKey.has(keyOf(definition, row)))
    .map((row) => ({ ...row, ...required(byKey.get(keyOf(definition, row))) }));
  const difference = differenceOf(transition);
  const counted = difference === 0 ? new Map() : countByParent(definition, made, difference);
  return { rows: made, counts: await addToCounts(db, type, orgId ?? "", counted) };
}

/** What is deleted is not counted. */
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

function columnsOf(transition: Transition, retentionDays: number) {
  switch (transition) {
    case "delete":
      return { delete_time: sql<Date>`now()`, purge_time: sql<Date>`now() + make_interval(days => ${retentionDays})` };
    case "undelete":
      return { delete_time: null, purge_time: null };
    case "suspend":
      return { state: "SUSPENDED" } as const;
    case "activate":
      return { state: "ACTIVE" } as const;
    case "purge":
      // Once given up it stays so: one that is due already keeps its time.
      return { purge_time: sql<Date>`least(purge_time, now())` };
  }
}
