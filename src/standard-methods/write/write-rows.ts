// A write, step by step. What a Create, an Update, a Delete or a transition does in each step is beside this file, for one row as for a
// batch; `write-call.ts` decides whether the transaction is its own, that of a group, or one that is rolled back.
import type { DescMessage } from "@bufbuild/protobuf";
import { findOwned, requireOwned } from "../../access/escalation/keep-owner.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { WriteLocks } from "../../changes/write-locks.ts";
import { required } from "../../errors/required.ts";
import { type AtItem, alone } from "../batch/batch-item.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { RowWrite, ServedResource } from "../rules.ts";
import { recordChange } from "./append-change.ts";
import { closeWrite, openWrite } from "./open-write.ts";
import { requireMayRevoke } from "./require-may-revoke.ts";
import { requireOpenParents } from "./require-open-parents.ts";
import { requireRoom } from "./require-room.ts";
import type { WriteCall } from "./write-call.ts";

/** A row before and after a write: null before it is created, and after it is removed. */
export interface RowChange<Row> {
  readonly before: Row | null;
  readonly after: Row | null;
}

/** What a write has done. */
export interface Applied<Row> {
  /** In the order of the rows. One that is returned as it was is not recorded. */
  readonly changes: readonly RowChange<Row>[];
  /** The new counts of the parents in which rows were created or restored, by parent id; undefined if the write does neither. */
  readonly counts?: ReadonlyMap<string, number> | undefined;
}

/** What a write is about to do, as it was found under its locks. */
export interface Plan<Row, Result> {
  /** The rows as they are, in the order of the items of a batch; those to be created have their own columns. */
  readonly rows: readonly object[];
  /** Parents of the rows that were read under the locks, by id. */
  readonly parents?: ReadonlyMap<string, ResourceRow>;
  /** Checks what only this write demands, and returns what it does to rows that exist. */
  readonly check?: () => Promise<readonly RowWrite<Row>[]>;
  /** Writes the rows. */
  readonly apply: () => Promise<Applied<Row>>;
  /** Makes what goes with the rows, once they are recorded, and returns what comes of the write. */
  readonly answer: (rows: readonly (Row | null)[]) => Result | Promise<Result>;
}

/** Returns the plan of a write that has nothing to do. */
export function nothingToDo<Row, Result>(result: Result): Plan<Row, Result> {
  return { rows: [], apply: () => Promise.resolve({ changes: [] }), answer: () => result };
}

/** A write of rows of a resource in one org. */
export interface RowsWrite<Row, Result> {
  readonly locks: WriteLocks;
  /** Finds what is written, under the locks. */
  readonly prepare: (transaction: OrgTransaction) => Promise<Plan<Row, Result>>;
  /** Names the item of a batch in errors. */
  readonly atItem?: AtItem;
}

/** Runs a write of rows. */
export async function writeRows<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage, Result>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  { locks, prepare, atItem = alone }: RowsWrite<Row, Result>,
): Promise<Result> {
  // Open: the locks are taken, the author is confirmed under them, and the org's next revision is reserved.
  const transaction = await openWrite(call, locks);
  const result = await writeOpened(served, transaction, prepare, atItem);

  // Close: what was recorded is appended together with the commit, or with what the others of a group have recorded.
  await closeWrite(call, transaction);
  return result;
}

/** Writes rows of a resource in a write that is open, which may write those of others, too. */
export async function writeOpened<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  Result,
>(
  served: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  prepare: RowsWrite<Row, Result>["prepare"],
  atItem: AtItem = alone,
): Promise<Result> {
  const { definition, rules } = served;

  // Prepare: find the rows, and check whether the author may write them as they are now.
  const { rows, parents, check, apply, answer } = await prepare(transaction);
  await requireOpenParents(served, transaction, rows, atItem, parents);
  const writes = (await check?.()) ?? [];
  await requireMayRevoke(served, transaction, writes, atItem);

  // Apply: send the statements, and check what only their outcome tells.
  const mayLeaveNoOwner = writes.some(({ step }) => rules.mayLeaveNoOwner?.includes(step));
  const owned = mayLeaveNoOwner ? findOwned(transaction) : undefined;
  const { changes, counts } = await apply();
  if (owned !== undefined) await requireOwned(transaction, owned);
  const left = changes.map(({ after }) => after);
  if (counts !== undefined) await requireRoom(served, left.map(required), counts, atItem);

  // Record: the change log of the org gets each row before and after.
  for (const { before, after } of changes) {
    if (before !== after) recordChange(transaction, definition, before, after);
  }
  return answer(left);
}
