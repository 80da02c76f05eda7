import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { readByKeys } from "../../standard-methods/read/row-reader.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import type { ReferenceIds } from "../references.ts";
import type { ResourceTypeRow } from "../resource-types/store.ts";
import { routingKeyOf } from "../routing-key.ts";
import type { InfrastructureRow } from "../resources/store.ts";
import { operationDefinition } from "./definition.ts";
import type { Variables } from "./read-variables.ts";
import { type OperationRow, insertOperation } from "./store.ts";

/** An operation to start. */
export interface NewOperation {
  readonly id: string;
  readonly verb: string;
  readonly isConcurrent: boolean;
  /** The resource, as it is from now on. */
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
  const key = { org_id: org.id, id };
  await insertOperation(db, time, {
    ...key,
    project_id: resource.project_id,
    resource_id: resource.id,
    service_id: type.service_id,
    type_id: type.id,
    routing_key: routingKeyOf(type, resource.parameters) ?? "",
    verb,
    is_concurrent: isConcurrent,
    prior_state: priorState,
    state: "PENDING" as const,
    quantities: JSON.stringify(wanted.quantities),
    given_quantities: "{}",
    qualities: JSON.stringify(wanted.qualities),
    given_qualities: "{}",
    outputs: "{}",
    reference_ids: JSON.stringify(references),
    progress_percent: 0,
    progress_message: "",
    cancel_requested: false,
    error_reason: "",
    error_message: "",
    actor_org_id: author.actorOrgId,
    actor_id: author.actorId,
    changed_revision: revision,
  });
  const [row] = await readByKeys(db, operationDefinition, [key]);
  recordChange(transaction, operationDefinition, null, required(row));
  return required(row);
}
