// Starts operations on resources, under the lock of their org: changes the state of the resource, reserves what it needs, and
// queues the operation for the provider.
import { v7 as uuidv7 } from "uuid";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { type Amounts, reserve } from "../../iam/quotas/ledger.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { countedAmounts, placeOf } from "../ledger.ts";
import { type Variables, readVariables } from "../operations/read-variables.ts";
import { startOperation } from "../operations/start-operation.ts";
import type { OperationRow } from "../operations/store.ts";
import { readType } from "../resource-types/find-type.ts";
import { infrastructureDefinition } from "./definition.ts";
import { toResource } from "./message.ts";
import { requireIdle } from "./require-idle.ts";
import { requireOperation } from "./rules.ts";
import type { InfrastructureRow } from "./store.ts";

/** An operation to run on a resource that exists. */
export interface Change {
  readonly verb: string;
  /** The request field that names the verb; for errors. */
  readonly field: string;
  readonly variables: Variables;
}

/** An operation that was started, and what its resource now holds of the quotas. */
export interface Started {
  readonly operation: OperationRow;
  readonly resource: InfrastructureRow;
  readonly held: Amounts;
}

export const noVariables: Variables = { quantities: {}, qualities: {} };

const variableFields = { quantities: "quantities", qualities: "qualities" };

/** Starts the operation `create` of a resource that was just inserted. */
export async function startCreation(transaction: OrgTransaction, resource: InfrastructureRow): Promise<Started> {
  const type = await readType(transaction.db, resource.type_id);
  const held = countedAmounts(type.operations, resource.quantities);
  await reserve(transaction, placeOf(transaction, resource), resource.id, held);
  const id = required(resource.operation_id);
  const started = { id, verb: "create", resource, priorState: null, type, wanted: resource };
  return { operation: await startOperation(transaction, started), resource, held };
}

/**
 * Starts an operation on a resource.
 *
 * @throws ServiceError STATE_FORBIDS while another operation is changing the resource, FIELD_INVALID or QUOTA_EXCEEDED.
 */
export async function startChange(
  transaction: OrgTransaction,
  row: InfrastructureRow,
  { verb, field, variables }: Change,
): Promise<Started> {
  const { db } = transaction;
  requireIdle(row);
  const type = await readType(db, row.type_id);
  const wanted = await readVariables(db, requireOperation(type, verb, field), variables, variableFields);
  const id = uuidv7();
  const resource = await setState(transaction, row, verb === "delete" ? "DELETING" : "UPDATING", id);
  const held = countedAmounts(type.operations, { ...row.given_quantities, ...wanted.quantities });
  await reserve(transaction, placeOf(transaction, row), row.id, held);
  const started = { id, verb, resource, priorState: row.state, type, wanted };
  return { operation: await startOperation(transaction, started), resource, held };
}

async function setState(
  transaction: OrgTransaction,
  row: InfrastructureRow,
  state: InfrastructureRow["state"],
  operationId: string,
): Promise<InfrastructureRow> {
  const { db, org, revision, time } = transaction;
  const target = { db, orgId: org.id, revision, time };
  const columns = { state, operation_id: operationId };
  const change = { fields: toResource(row), columns };
  const after = { ...row, ...(await updateRow(target, infrastructureDefinition, row, change)) };
  recordChange(transaction, infrastructureDefinition, row, after);
  return after;
}
