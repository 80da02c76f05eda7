// Ends an operation, and brings its resource and the ledger to the result. Runs under the lock of their org.
import type { JsonObject } from "@bufbuild/protobuf";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import { removeRows } from "../../standard-methods/rows/remove-rows.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { release } from "../../quotas/ledger.ts";
import { placeOf } from "../counted-amounts.ts";
import { mergeReferences, releaseReferences } from "../references.ts";
import {
  type ChangedColumns,
  changeDeletion,
  changeResource,
  givenWith,
  wantedAfter,
} from "../resources/change-resource.ts";
import { allowsUndelete, readTypeOnce } from "../resource-types/find-type.ts";
import { infrastructureDefinition } from "../resources/definition.ts";
import type { InfrastructureRow } from "../resources/store.ts";
import { wakeSweeps } from "../queue-sweep.ts";
import { operationDefinition } from "./definition.ts";
import type { Variables } from "./read-variables.ts";
import { type OperationRow, setPriorState } from "./store.ts";

/** How an operation ends. */
export type Outcome =
  | {
      readonly state: "SUCCEEDED";
      readonly given: Variables;
      /** Undefined if the outputs of the resource stay as they are. */
      readonly outputs: JsonObject | undefined;
    }
  | { readonly state: "FAILED"; readonly reason: string; readonly message: string }
  | { readonly state: "CANCELLED" };

export interface EndDependencies {
  readonly registry: ResourceRegistry;
  /** For how many days a deleted resource can be restored. */
  readonly retentionDays: number;
}

export async function readResourceOf(
  { db, org }: OrgTransaction,
  { project_id: projectId, resource_id: id }: OperationRow,
): Promise<InfrastructureRow> {
  const path = [org.id, projectId, id].map((value) => ({ by: "id", value }) as const);
  return required(await findRow(db, infrastructureDefinition, path));
}

/**
 * @param resource the one that the operation is changing.
 * @throws ServiceError QUOTA_EXCEEDED when more was given than was wanted, and there is no room for it.
 */
export async function endOperation(
  transaction: OrgTransaction,
  dependencies: EndDependencies,
  operation: OperationRow,
  resource: InfrastructureRow,
  outcome: Outcome,
): Promise<OperationRow> {
  const { time } = transaction;
  const left = await applyToResource(transaction, dependencies, resource, operation, outcome);
  const uses = Object.keys(resource.reference_ids).length > 0 || Object.keys(operation.reference_ids).length > 0;
  // After a failure, the sweep would only repeat what failed. When a resource that used no other is gone, nothing has to follow.
  if (outcome.state !== "FAILED" && (left !== undefined || uses)) wakeSweeps(transaction);
  const ended = {
    ...operation,
    ...(await updateRow(writeTargetOf(transaction), operationDefinition, operation, {
      columns: { ...columnsOf(outcome), state: outcome.state, end_time: time, claim_token: null },
    })),
    resource_name: left?.name ?? null,
    resource_delete_time: left?.delete_time ?? null,
  };
  recordChange(transaction, operationDefinition, operation, ended);
  return ended;
}

function columnsOf(outcome: Outcome) {
  switch (outcome.state) {
    case "SUCCEEDED":
      return {
        given_quantities: JSON.stringify(outcome.given.quantities),
        given_qualities: JSON.stringify(outcome.given.qualities),
        outputs: JSON.stringify(outcome.outputs ?? {}),
        progress_percent: 100,
      };
    case "FAILED":
      return { error_reason: outcome.reason, error_message: outcome.message };
    case "CANCELLED":
      return {};
  }
}

/** @returns the resource after the operation; undefined if it is gone. */
async function applyToResource(
  transaction: OrgTransaction,
  dependencies: EndDependencies,
  resource: InfrastructureRow,
  operation: OperationRow,
  outcome: Outcome,
): Promise<InfrastructureRow | undefined> {
  const { id, verb, prior_state: priorState, reference_ids: referenceIds } = operation;
  const running = resource.concurrent_ids.filter((each) => each !== id);
  const change = async (columns: ChangedColumns): Promise<InfrastructureRow> => {
    const after = await changeResource(transaction, resource, columns, running);
    await releaseReferences(transaction, resource, referenceIds, after.reference_ids, running);
    return after;
  };
  const remove = async (): Promise<undefined> => {
    await releaseReferences(transaction, resource, referenceIds, {});
    await removeResource(transaction, dependencies, resource);
  };
  const makeDeleted = async (transition: "delete" | "purge", reason: string): Promise<InfrastructureRow> => {
    const { retentionDays } = dependencies;
    const after = await changeDeletion(transaction, resource, { transition, retentionDays, reason });
    await releaseReferences(transaction, resource, referenceIds, after.reference_ids);
    return after;
  };
  switch (outcome.state) {
    case "SUCCEEDED": {
      if (verb === "purge") return remove();
      if (verb === "delete") {
        const type = await readTypeOnce(transaction, resource.type_id);
        return allowsUndelete(type) ? makeDeleted("delete", "") : remove();
      }
      const { given, outputs } = outcome;
      const state = stateAfter(verb, priorState);
      // A failure of those that go on does not undo that the resource works.
      if (running.length > 0) await setPriorState(transaction.db, transaction.org, running, state);
      return change({
        state,
        state_reason: "",
        ...wantedAfter(resource, operation),
        ...givenWith(resource, given),
        reference_ids: mergeReferences(resource.reference_ids, referenceIds),
        ...(outputs !== undefined && { outputs }),
      });
    }
    case "CANCELLED":
      if (priorState === null) return remove();
      // The reason says why an earlier purge failed.
      if (priorState === "DELETED") return verb === "undelete" ? makeDeleted("delete", "") : change({});
      return change({ state: priorState });
    case "FAILED": {
      // What could not be purged may be purged in part, so it is not restored.
      if (priorState === "DELETED") {
        return verb === "undelete" ? makeDeleted("delete", "") : makeDeleted("purge", outcome.message);
      }
      // What a provider could not create or delete is in an unknown condition.
      const isLost = priorState === null || verb === "delete";
      return change(isLost ? { state: "FAILED", state_reason: outcome.message } : { state: priorState });
    }
  }
}

/** Returns the state of a resource after an operation that succeeded. */
function stateAfter(verb: string, priorState: OperationRow["prior_state"]): "ACTIVE" | "SUSPENDED" {
  if (verb === "suspend") return "SUSPENDED";
  return verb !== "resume" && priorState === "SUSPENDED" ? "SUSPENDED" : "ACTIVE";
}

async function removeResource(
  transaction: OrgTransaction,
  { registry }: EndDependencies,
  resource: InfrastructureRow,
): Promise<void> {
  await release(transaction, placeOf(transaction, resource), resource.id);
  await removeRows(transaction.db, registry, infrastructureDefinition, transaction.org, [resource]);
  recordChange(transaction, infrastructureDefinition, resource, null);
}

function writeTargetOf({ db, org, revision, time }: OrgTransaction) {
  return { db, org, revision, time };
}
