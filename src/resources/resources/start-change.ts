// Starts operations on resources, under the lock of their org: changes the state of the resource, reserves what it needs, and
// queues the operation for the provider.
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { deleted } from "../../errors/service-error.ts";
import { type Amounts, requireNoExcess, reserve } from "../../quotas/ledger.ts";
import { withReadableQuotas } from "../../quotas/quota-exceeded.ts";
import { checkTransition } from "../../standard-methods/definition/lifecycle.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { countedAmounts, placeOf } from "../counted-amounts.ts";
import { type Variables, readKinds, readVariables } from "../operations/read-variables.ts";
import { type NewOperation, startOperation } from "../operations/start-operation.ts";
import { type OperationRow, readPriorState } from "../operations/store.ts";
import { holdReferences, readReferences, requireUnreferenced } from "../references.ts";
import { readType } from "../resource-types/find-type.ts";
import { givenWith, takesAway } from "./change-resource.ts";
import { infrastructureDefinition } from "./definition.ts";
import { resourcePath, toResource } from "./message.ts";
import { requireStartable } from "./require-idle.ts";
import { type InfrastructureDraft, requireOperation } from "./rules.ts";
import type { InfrastructureRow } from "./store.ts";

/** An operation to run on a resource that exists. */
export interface WantedOperation {
  readonly verb: string;
  /** The request field that names the verb; for errors. */
  readonly field: string;
  readonly variables: Variables;
  /** Paths by the name of the reference. */
  readonly references: Readonly<Record<string, string>>;
}

/** An operation that was started, and what its resource now holds of the quotas. */
export interface Started {
  readonly operation: OperationRow;
  readonly resource: InfrastructureRow;
  readonly held: Amounts;
}

/** What starting an operation depends on. */
export type StartDependencies = Pick<ResourceDependencies, "authorHolds">;

/** What an operation gets that has no variables. */
export const nothingGiven: Pick<WantedOperation, "variables" | "references"> = {
  variables: { quantities: {}, qualities: {} },
  references: {},
};

const variableFields = { quantities: "quantities", qualities: "qualities" };

/**
 * Starts the operation `create` of a resource that was just inserted.
 *
 * @throws ServiceError FIELD_INVALID or QUOTA_EXCEEDED.
 */
export async function startCreation(
  transaction: OrgTransaction,
  { authorHolds }: StartDependencies,
  resource: InfrastructureRow,
  { type, held, excesses }: InfrastructureDraft,
  { references: given }: Pick<WantedOperation, "references">,
): Promise<Started> {
  const create = requireOperation(type, "create", "resource.type_path");
  const field = "resource.references";
  const references = await readReferences(transaction, authorHolds, resource.id, create, given, field);
  const id = required(resource.operation_id);
  await withReadableQuotas(authorHolds, transaction, () =>
    requireNoExcess(transaction, placeOf(transaction, resource), excesses()),
  );
  const creation = { id, verb: "create", isConcurrent: false, priorState: null };
  return queue(transaction, { ...creation, resource, type, wanted: resource, references }, held);
}

/**
 * Starts an operation on a resource.
 *
 * @throws ServiceError STATE_FORBIDS when the resource is DELETED or while another operation is changing it, unless both are
 *   concurrent; RESOURCE_IN_USE when it is to be deleted or purged and another one uses it; FIELD_INVALID, QUOTA_EXCEEDED or LIMIT_EXCEEDED.
 */
export async function startChange(
  transaction: OrgTransaction,
  { authorHolds }: StartDependencies,
  row: InfrastructureRow,
  { verb, field, variables, references: given }: WantedOperation,
): Promise<Started> {
  const { db } = transaction;
  const type = await readType(db, row.type_id);
  const definition = type.operations.find((each) => each.verb === verb) ?? { verb };
  requireStartable(row, definition);
  requireState(row, verb);
  if (takesAway.has(verb)) await requireUnreferenced(transaction, authorHolds, row);
  requireOperation(type, verb, field);
  const wanted = readVariables(await readKinds(db, definition), definition, variables, variableFields);
  const references = await readReferences(transaction, authorHolds, row.id, definition, given, "references");
  // What is being purged stays DELETED.
  const state = verb === "purge" ? row.state : verb === "delete" ? "DELETING" : "UPDATING";
  const priorState = verb === "purge" ? "DELETED" : await idleStateOf(transaction, row);
  const id = transaction.newId();
  const { concurrent: isConcurrent = false } = definition;
  const resource = await setState(transaction, row, {
    state,
    operation_id: row.operation_id ?? id,
    ...(isConcurrent && { concurrent_ids: [...row.concurrent_ids, id] }),
  });
  const operation = { id, verb, isConcurrent, resource, priorState, type, wanted, references };
  return start(transaction, authorHolds, operation);
}

/** Returns the state that a resource gets back if all operations that are changing it fail. */
async function idleStateOf({ db }: OrgTransaction, row: InfrastructureRow): Promise<OperationRow["prior_state"]> {
  const [first] = row.concurrent_ids;
  if (first === undefined) return row.state;
  return readPriorState(db, { org_id: row.org_id, id: first });
}

/** @throws ServiceError STATE_FORBIDS when a resource is DELETED, or when it is to be purged and is not. */
function requireState(row: InfrastructureRow, verb: string): void {
  if (verb === "purge") checkTransition(row, "purge", "resource", resourcePath(row));
  else if (row.delete_time !== null) throw deleted("resource", resourcePath(row));
}

/**
 * Reserves what the resource needs, and queues the operation.
 *
 * @throws ServiceError QUOTA_EXCEEDED
 */
export async function start(
  transaction: OrgTransaction,
  authorHolds: AuthorHolds,
  operation: NewOperation,
): Promise<Started> {
  const { verb, resource, type, wanted } = operation;
  const has = takesAway.has(verb) ? resource : givenWith(resource, wanted);
  const held = countedAmounts(type.operations, { ...has.given_quantities, ...wanted.quantities });
  await withReadableQuotas(authorHolds, transaction, () =>
    reserve(transaction, placeOf(transaction, resource), resource.id, held),
  );
  return queue(transaction, operation, held);
}

async function queue(transaction: OrgTransaction, operation: NewOperation, held: Amounts): Promise<Started> {
  const { resource, references } = operation;
  await holdReferences(transaction, resource.id, references);
  return { operation: await startOperation(transaction, operation), resource, held };
}

async function setState(
  transaction: OrgTransaction,
  row: InfrastructureRow,
  columns: Partial<Pick<InfrastructureRow, "state" | "operation_id" | "concurrent_ids">>,
): Promise<InfrastructureRow> {
  const { db, org, revision, time } = transaction;
  const target = { db, org, revision, time };
  const change = { fields: toResource(row), columns };
  const after = { ...row, ...(await updateRow(target, infrastructureDefinition, row, change)) };
  recordChange(transaction, infrastructureDefinition, row, after);
  return after;
}
