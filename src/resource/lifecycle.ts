// What becomes of resources that have states (AIP-216) and stay readable when they are deleted (AIP-164):
//
//   INVITED ── activate ─→ ACTIVE ── suspend ─→ SUSPENDED ── activate ─→ ACTIVE
//   each of these ── delete ─→ DELETED ── undelete, until its purge time ─→ the state before
//                              DELETED ── purge ─→ its purge time is now
//
// What is past its purge time is removed by `src/purge`.
import { sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { anyOf } from "../database/any-of.ts";
import { ServiceError } from "../errors/service-error.ts";

/** Tables of resources with a lifecycle. */
type LifecycleTable = "customers" | "orgs" | "projects" | "members";

/** What of a resource's life is its own. */
export interface Lifecycle<Row> {
  readonly table: LifecycleTable;
  /** Refuses a transition, or does what goes with it; before the row itself is changed. */
  readonly accompany?: (transaction: OrgTransaction, row: Row, transition: Transition) => Promise<void> | void;
  /** Runs what changes the rows, and refuses what it leaves. */
  readonly surround?: <Result>(
    transaction: OrgTransaction,
    transition: Transition,
    change: () => Promise<Result>,
  ) => Promise<Result>;
}

/** A row of a table with a lifecycle. */
export interface LifecycleRow {
  readonly id: string;
  readonly org_id?: string;
  readonly state?: string;
  readonly delete_time: Date | null;
}

const live = ["INVITED", "ACTIVE", "SUSPENDED"];

const transitions = {
  delete: { from: live, done: "deleted" },
  undelete: { from: ["DELETED"], done: "brought back" },
  suspend: { from: ["ACTIVE"], done: "suspended" },
  activate: { from: ["SUSPENDED", "INVITED"], done: "activated" },
  purge: { from: ["DELETED"], done: "given up for good" },
} as const;

export type Transition = keyof typeof transitions;

function stateOf({ state = "ACTIVE", delete_time: deleteTime }: Omit<LifecycleRow, "id">): string {
  return deleteTime === null ? state : "DELETED";
}

/** @throws ServiceError STATE_FORBIDS that names the state when a resource cannot make the transition from it. */
export function checkTransition(
  row: Omit<LifecycleRow, "id">,
  transition: Transition,
  label: string,
  path: string,
): void {
  const state = stateOf(row);
  const { from, done } = transitions[transition];
  if (from.some((allowed) => allowed === state)) return;
  const sentence =
    from === live
      ? `the ${label} ${path} is ${state}`
      : `the ${label} ${path} is ${state}: only one that is ${from.join(" or ")} can be ${done}`;
  throw stateForbids(sentence, path, state);
}

export function stateForbids(message: string, path: string, state: string): ServiceError {
  return new ServiceError("STATE_FORBIDS", message, { metadata: { resource: path, state } });
}

/**
 * Writes down what a transition makes of a row; answers the row as it is then, or undefined when its purge time has
 * passed.
 *
 * @param retentionDays how long what is deleted can be brought back.
 */
export async function makeTransition<Row extends LifecycleRow>(
  transaction: OrgTransaction,
  table: LifecycleTable,
  row: Row,
  transition: Transition,
  retentionDays: number,
): Promise<Row | undefined> {
  const [after] = await makeTransitions(transaction, table, [row], transition, retentionDays);
  return after;
}

/** The same for many rows, all of one org if they are of any; without those whose purge time has passed. */
export async function makeTransitions<Row extends LifecycleRow>(
  { db, revision }: OrgTransaction,
  table: LifecycleTable,
  rows: readonly Row[],
  transition: Transition,
  retentionDays: number,
): Promise<Row[]> {
  const ids = rows.map(({ id }) => id);
  const orgId = rows[0]?.org_id;
  // Kysely types a statement by its one table, so this is written for members and used for all.
  const updated = await db
    .updateTable(table as "members")
    .set({ ...columnsOf(table, transition, retentionDays), changed_revision: revision, update_time: sql`now()` })
    .where("id", "=", anyOf(ids))
    .$if(orgId !== undefined, (query) => query.where("org_id", "=", orgId ?? ""))
    // By the clock as it is: this transaction may have waited for its lock while the time passed.
    .$if(transition === "undelete", (query) => query.where("purge_time", ">", sql<Date>`clock_timestamp()`))
    .returningAll()
    .execute();
  const byId = new Map(updated.map((row) => [row.id, row]));
  return rows.filter(({ id }) => byId.has(id)).map((row) => ({ ...row, ...byId.get(row.id) }));
}

function columnsOf(table: LifecycleTable, transition: Transition, retentionDays: number) {
  switch (transition) {
    case "delete":
      return { delete_time: sql<Date>`now()`, purge_time: sql<Date>`now() + make_interval(days => ${retentionDays})` };
    case "undelete":
      return { delete_time: null, purge_time: null };
    case "suspend":
      return { state: "SUSPENDED" } as const;
    case "activate":
      return { state: "ACTIVE", ...(table === "members" && { invitation_expire_time: null }) } as const;
    case "purge":
      // Once given up it stays so: one that is due already keeps its time.
      return { purge_time: sql<Date>`least(purge_time, now())` };
  }
}
