import { sql } from "kysely";
import { isInOrgOf } from "../../database/org-key.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { operationDefinition } from "./definition.ts";
import { type EndDependencies, endOperation, readResourceOf } from "./end-operation.ts";
import type { OperationRow } from "./store.ts";

/**
 * Cancels an operation, unless it has ended or that was asked before. One that was never claimed ends; of another one, the
 * provider is asked to undo what it did.
 */
export async function cancelOpenOperation(
  transaction: OrgTransaction,
  dependencies: EndDependencies,
  key: Pick<OperationRow, "org_id" | "id">,
): Promise<OperationRow> {
  const { db, org, revision, time } = transaction;
  const attempts = await lockAgainstClaims(transaction, key);
  const row = required((await readByKeys(db, operationDefinition, [key]))[0]);
  if (row.end_time !== null || row.cancel_requested) return row;
  if (attempts === 0) {
    const resource = await readResourceOf(transaction, row);
    return endOperation(transaction, dependencies, row, resource, { state: "CANCELLED" });
  }
  const target = { db, org, revision, time };
  const columns = { cancel_requested: true };
  const after = { ...row, ...(await updateRow(target, operationDefinition, row, { columns })) };
  recordChange(transaction, operationDefinition, row, after);
  return after;
}

/**
 * Locks an operation until the transaction ends, so that it is not claimed. If it waits for its next attempt, that is now.
 *
 * @returns how often it was claimed.
 */
async function lockAgainstClaims({ db, org, time }: OrgTransaction, { id }: Pick<OperationRow, "id">): Promise<number> {
  const { attempts } = await db
    .updateTable("operations")
    .set({ next_attempt_time: sql`case when state = 'PENDING' then ${time}::timestamptz else next_attempt_time end` })
    .where(isInOrgOf("operations", org))
    .where("id", "=", id)
    .returning("attempts")
    .executeTakeFirstOrThrow();
  return attempts;
}
