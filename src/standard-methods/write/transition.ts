import type { DescMessage } from "@bufbuild/protobuf";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type AtItem, alone } from "../batch/batch-item.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import { type LifecycleRow, type Transition, checkTransition, stateForbids } from "../definition/lifecycle.ts";
import { required } from "../../errors/required.ts";
import { makeTransitions } from "../rows/make-transitions.ts";
import { idOf } from "../rows/row-key.ts";
import type { ServedResource } from "../rules.ts";
import type { WriteCall } from "./write-call.ts";
import { requireRoom } from "./create.ts";
import { followTransition } from "./follow-transition.ts";
import { withMappedErrors } from "./map-errors.ts";
import { requireFound } from "./require-found.ts";
import { requireMayRevoke } from "./require-may-revoke.ts";
import { requireOpenParents } from "./require-open-parents.ts";
import { recordChange } from "./append-change.ts";
import { closeScope, locksOfTransition, openWrite } from "./scope.ts";

/** Changes the state of a resource (AIP-164, 165, 216). Returns its row after the transition. */
export async function changeState<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  path: readonly Reference[],
  etag: string,
  transition: Transition,
): Promise<Row> {
  const { definition, reader, rules } = served;
  const transaction = await openWrite(call, await locksOfTransition(rules.scope, call.db, path));
  const before = await requireFound(served, transaction, await reader.find(transaction.db, path), path, etag);
  const [after] = await changeStates(served, transaction, [before], transition, alone);
  if (after === undefined) {
    const at = definition.pathOf(before);
    throw stateForbids(`the ${definition.label.one} ${at} is DELETED, and its purge_time has passed`, at, "DELETED");
  }
  closeScope(call, transaction);
  return after;
}

/**
 * Makes a transition of several rows under the lock of their org: checks each, updates them, and records the changes.
 *
 * @returns the rows after the transition, without rows whose purge time has passed.
 * @throws ServiceError STATE_FORBIDS when a row's state does not allow the transition.
 */
export async function changeStates<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  rows: readonly Row[],
  transition: Transition,
  atItem: AtItem,
  force = false,
): Promise<Row[]> {
  const { definition, rules, dependencies } = served;
  await requireOpenParents(served, transaction, rows, atItem);
  for (const [index, row] of rows.entries()) {
    await atItem(index, async () => {
      checkTransition(row as Row & LifecycleRow, transition, definition.label.one, definition.pathOf(row));
      await rules.beforeTransition?.(transaction, row, transition, force);
      await followTransition(dependencies, transaction, definition, row, { transition, force });
    });
  }
  const transitions = rows.map((row) => ({ step: transition, row }));
  await requireMayRevoke(served, transaction, transitions, atItem);
  const { db, org, author, revision, time } = transaction;
  const columns = rules.transitionColumns?.(transition);
  const making = { transition, retentionDays: dependencies.retentionDays, ...(columns && { columns }) };
  const write = () => makeTransitions({ db, orgId: org.id, revision, time }, definition, rows, making);
  const [first] = rows;
  const make = () => (rules.guard === undefined ? write() : rules.guard(transaction, transition, write));
  const made = await (first === undefined
    ? make()
    : withMappedErrors(served, author, definition.toMessage(first), make));
  if (transition === "undelete") await requireRoom(served, made, alone);
  const before = new Map(rows.map((row) => [idOf(definition, row), row]));
  for (const after of made.rows) {
    recordChange(transaction, definition, required(before.get(idOf(definition, after))), after);
  }
  return made.rows;
}
