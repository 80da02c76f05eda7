import type { DescMessage } from "@bufbuild/protobuf";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { lockCustomersFirst } from "../../changes/write-locks.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type AtItem, alone } from "../batch/batch-item.ts";
import { type ResourceRow, type ResourceTable, keepsDeleted } from "../definition/definition.ts";
import { removeRows } from "../rows/remove-rows.ts";
import type { ServedResource } from "../rules.ts";
import type { WriteCall } from "./write-call.ts";
import { isGone, requireFound } from "./require-found.ts";
import { requireMayRevoke } from "./require-may-revoke.ts";
import { requireOpenParents } from "./require-open-parents.ts";
import { recordChange } from "./append-change.ts";
import { requireUnused } from "./require-unused.ts";
import { closeScope, locksOfTransition, openWrite } from "./scope.ts";
import { changeStates } from "./transition.ts";

/** Deletes a resource (AIP-135, 164). Returns its row if it stays readable; null if it was removed or did not exist. */
export async function deleteOne<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  path: readonly Reference[],
  etag: string,
): Promise<Row | null> {
  const { reader, rules } = served;
  const { allowMissing, force } = call.request;
  if (allowMissing) {
    // Under the lock of the customer, so that a later one of several concurrent calls sees the deletion. Without that of the org, so that
    // the call succeeds even if the parent no longer exists.
    if (rules.scope.kind === "itself") lockCustomersFirst(call.db, path);
    const early = await reader.find(call.db, path);
    if (isGone(early)) return early ?? null;
  }
  const transaction = await openWrite(call, await locksOfTransition(rules.scope, call.db, path));
  const found = await reader.find(transaction.db, path);
  const left =
    allowMissing && isGone(found)
      ? [found ?? null]
      : await removeAll(
          served,
          transaction,
          [await requireFound(served, transaction, found, path, etag)],
          alone,
          force,
        );
  closeScope(call, transaction);
  return left[0] ?? null;
}

/**
 * Removes rows or marks them as deleted, under the lock of their org. Returns the rows that stay readable, and null for the
 * others.
 */
export async function removeAll<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  rows: readonly Row[],
  atItem: AtItem,
  force = false,
): Promise<(Row | null)[]> {
  const { definition, rules, dependencies } = served;
  if (rows.length === 0) return [];
  if (keepsDeleted(definition)) return changeStates(served, transaction, rows, "delete", atItem, force);
  await requireOpenParents(served, transaction, rows, atItem);
  await rules.beforeRemove?.(transaction, rows);
  await requireUnused(transaction.db, dependencies.registry, definition, rows);
  const removals = rows.map((row) => ({ step: "remove", row }) as const);
  await requireMayRevoke(served, transaction, removals, atItem);
  const { db, org } = transaction;
  const write = () => removeRows(db, dependencies.registry, definition, org.id, rows);
  await (rules.guard === undefined ? write() : rules.guard(transaction, "remove", write));
  for (const row of rows) recordChange(transaction, definition, row, null);
  return rows.map(() => null);
}
