import type { DescMessage } from "@bufbuild/protobuf";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { type WriteLocks, lockCustomerOfLog, lockCustomersFirst } from "../../changes/write-locks.ts";
import { required } from "../../errors/required.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type AtItem, alone } from "../batch/batch-item.ts";
import { type ResourceRow, type ResourceTable, keepsDeleted } from "../definition/definition.ts";
import { removeRows } from "../rows/remove-rows.ts";
import type { ServedResource } from "../rules.ts";
import { locksOfTransition } from "./open-write.ts";
import { isGone, requireFound } from "./require-found.ts";
import { requireUnused } from "./require-unused.ts";
import { planTransition } from "./transition.ts";
import type { WriteCall } from "./write-call.ts";
import { type Plan, nothingToDo, writeRows } from "./write-rows.ts";

/** Deletes a resource (AIP-135, 164). Returns its row if it stays readable; null if it was removed or did not exist. */
export async function deleteOne<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  path: readonly Reference[],
  etag: string,
): Promise<Row | null> {
  const { reader, rules } = served;
  if (call.request.allowMissing) {
    // Under the lock of the customer, so that a later one of several concurrent calls sees the deletion. Without that of the org, so that
    // the call succeeds even if the parent no longer exists.
    if (rules.scope.kind === "itself") lockCustomersFirst(call.db, path);
    if (rules.scope.kind === "customer") lockCustomerOfLog(call.db, rules.scope.locksOf(required(path[0])));
    const early = await reader.find(call.db, path);
    if (isGone(early)) return early ?? null;
  }
  return deleteUnder(served, call, await locksOfTransition(rules.scope, call.db, path), path, etag);
}

/**
 * Deletes a resource under locks.
 *
 * @param written the path that errors name.
 */
export function deleteUnder<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  locks: WriteLocks,
  path: readonly Reference[],
  etag: string,
  written: readonly Reference[] = path,
): Promise<Row | null> {
  const { allowMissing, force } = call.request;
  const prepare = async (transaction: OrgTransaction) => {
    const found = await served.reader.find(transaction.db, path);
    if (allowMissing && isGone(found)) return nothingToDo<Row, Row | null>(found ?? null);
    const row = await requireFound(served, transaction, found, written, etag);
    return planRemoval(served, transaction, [row], alone, ([left = null]) => left, force);
  };
  return writeRows(served, call, { locks, prepare });
}

/**
 * Returns the plan to remove rows, or to mark them as deleted.
 *
 * @param answer gets the rows that stay readable, and null for the others.
 */
export function planRemoval<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage, Result>(
  served: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  rows: readonly Row[],
  atItem: AtItem,
  answer: (rows: readonly (Row | null)[]) => Result,
  force = false,
): Plan<Row, Result> {
  const { definition, rules, dependencies } = served;
  if (rows.length === 0) return nothingToDo(answer([]));
  if (keepsDeleted(definition)) return planTransition(served, transaction, rows, "delete", atItem, answer, force);
  const { db, org } = transaction;
  return {
    rows,
    async check() {
      await rules.beforeRemove?.(transaction, rows);
      await requireUnused(db, dependencies.registry, definition, rows);
      return rows.map((row) => ({ step: "remove", row }) as const);
    },
    async apply() {
      await removeRows(db, dependencies.registry, definition, org, rows);
      return { changes: rows.map((before) => ({ before, after: null })) };
    },
    answer,
  };
}
