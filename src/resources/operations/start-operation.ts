import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import type { ReferenceIds } from "../references.ts";
import type { ResourceTypeRow } from "../resource-types/store.ts";
import { routingKeyOf } from "../routing-key.ts";
import type { InfrastructureRow } from "../resources/store.ts";
import { operationDefinition } from "./definition.ts";
import type { Variables } from "./read-variables.ts";
import { type OperationRow, insertOperation, readActor } from "./store.ts";

export interface NewOperation {
  readonly id: string;
  readonly verb: string;
  readonly isConcurrent: boolean;
  /** The resource, as this transaction has made it. */
  readonly resource: InfrastructureRow;
  /** The state that the resource gets back if the operation fails; null if it is being created. */
  readonly priorState: OperationRow["prior_state"];
  readonly type: ResourceTypeRow;
  readonly wanted: Variables;
  readonly references: ReferenceIds;
}

/** Starts an operation: it waits for its provider from when the transaction is committed. */
export async function startOperation(
  transaction: OrgTransaction,
  { id, verb, isConcurrent, resource, priorState, type, wanted, references }: NewOperation,
): Promise<OperationRow> {
  const { db, org, author, revision, time } = transaction;
  const { actorOrgId, actorId } = author;
  const columns = {
    customer_id: org.customer_id,
    org_id: org.id,
    project_id: resource.project_id,
    id,
    resource_id: resource.id,
    service_id: type.service_id,
    type_id: type.id,
    routing_key: routingKeyOf(type, resource.parameters) ?? "",
    verb,
    is_concurrent: isConcurrent,
    prior_state: priorState,
    state: "PENDING" as const,
    progress_percent: 0,
    progress_message: "",
    cancel_requested: false,
    error_reason: "",
    error_message: "",
    actor_org_id: actorOrgId,
    actor_id: actorId,
    end_time: null,
    changed_revision: revision,
  };
  const quantities = JSON.stringify(wanted.quantities);
  const qualities = JSON.stringify(wanted.qualities);
  insertOperation(db, time, {
    ...columns,
    quantities,
    given_quantities: "{}",
    qualities,
    given_qualities: "{}",
    outputs: "{}",
    reference_ids: JSON.stringify(references),
  });
  const row: OperationRow = {
    ...columns,
    quantities: JSON.parse(quantities),
    given_quantities: {},
    qualities: JSON.parse(qualities),
    given_qualities: {},
    outputs: {},
    reference_ids: references,
    attempts: 0,
    next_attempt_time: resource.update_time,
    create_time: resource.update_time,
    update_time: resource.update_time,
    ...joinedOrgColumns(transaction),
    project_name: resource.project_name,
    project_delete_time: resource.project_delete_time,
    resource_name: resource.name,
    resource_delete_time: resource.delete_time,
    type_name: type.name,
    collection: type.collection,
    service_name: type.service_name,
    ...(await transaction.readOnce(`actor ${actorOrgId} ${actorId}`, () => readActor(db, author))),
  };
  recordChange(transaction, operationDefinition, null, row);
  return row;
}
