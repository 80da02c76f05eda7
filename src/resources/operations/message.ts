import { type Operation, Operation_State } from "../../../gen/resources/v1alpha/operation_pb.ts";
import { formerMemberPath } from "../../iam/members/message.ts";
import { versionFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import { resourceTypePath } from "../resource-types/message.ts";
import { operationPath, referencedPaths, resourcePath } from "../resources/message.ts";
import { type OperationRow, maxAttempts } from "./store.ts";

export function toOperation(row: OperationRow): Operation {
  return {
    $typeName: "resources.v1alpha.Operation",
    path: operationPath(row),
    id: row.id,
    resourcePath: resourcePath({
      ...row,
      id: row.resource_id,
      name: row.resource_name ?? `@${row.resource_id}`,
      delete_time: row.resource_delete_time,
    }),
    typePath: typePathOf(row),
    verb: row.verb,
    routingKey: row.routing_key,
    state: Operation_State[row.state],
    done: row.end_time !== null,
    quantities: row.quantities,
    givenQuantities: row.given_quantities,
    qualities: row.qualities,
    givenQualities: row.given_qualities,
    outputs: row.state === "SUCCEEDED" ? row.outputs : undefined,
    references: referencedPaths(row),
    progressPercent: row.progress_percent,
    progressMessage: row.progress_message,
    cancelRequested: row.cancel_requested,
    error: row.state === "FAILED" ? errorOf(row) : undefined,
    attempts: row.attempts,
    lastError: row.end_time === null && row.error_reason !== "" ? errorOf(row) : undefined,
    nextAttemptTime: row.end_time === null ? toTimestamp(nextAttemptOf(row)) : undefined,
    pendingReason: row.state === "PENDING" ? pendingReasonOf(row) : "",
    memberPath: actorPathOf(row),
    ...versionFields(row),
    endTime: toTimestamp(row.end_time),
    // Only previews have them.
    quotaBalances: [],
  };
}

function errorOf({ error_reason: reason, error_message: message }: OperationRow): Operation["error"] {
  return { $typeName: "resources.v1alpha.Operation.Error", reason, message };
}

/** An operation that was never claimed waits since it was created, whatever its transaction took. */
function nextAttemptOf({ attempts, next_attempt_time: next, create_time: created }: OperationRow): Date {
  return attempts === 0 ? created : next;
}

function pendingReasonOf(row: OperationRow): string {
  const provider = row.service_name === null ? "its provider" : `the provider of the service ${row.service_name}`;
  return row.attempts === 0
    ? `${provider} has not claimed it yet`
    : `attempt ${row.attempts} of ${maxAttempts} failed; ${provider} can claim it again from ${nextAttemptOf(row).toISOString()}`;
}

/** Empty if the type no longer exists. */
function typePathOf({ service_name, type_name }: OperationRow): string {
  return service_name === null || type_name === null ? "" : resourceTypePath({ service_name, name: type_name });
}

function actorPathOf(row: OperationRow): string {
  return formerMemberPath({
    orgId: row.actor_org_id,
    orgName: row.actor_org_name,
    orgDeleteTime: row.actor_org_delete_time,
    id: row.actor_id,
    name: row.actor_name,
    deleteTime: row.actor_delete_time,
  });
}
