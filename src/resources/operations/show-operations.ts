// What callers see of operations. An operation shows what its resource has and is to have, so only callers who may get the resource
// see that: the permissions to read, cancel and start operations are of all types, or of others than to get.
import type { Operation } from "../../../gen/resources/v1alpha/operation_pb.ts";
import type { Holds } from "../../access/evaluation/author-holds.ts";
import { required } from "../../errors/required.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { decisionPath, mayReadResource } from "../may-read.ts";
import { toOperation } from "./message.ts";
import type { OperationRow } from "./store.ts";

/** Returns the messages of operations, without what is of resources that the caller may not get. */
export async function showOperations(
  holds: Holds,
  rows: readonly OperationRow[],
  messages: readonly Operation[] = rows.map(toOperation),
): Promise<Operation[]> {
  const decided = new Map<string, Promise<boolean>>();
  const mayRead = (row: OperationRow): Promise<boolean> => {
    const { org_id: orgId, project_id: projectId, resource_id: id, service_name: service, collection } = row;
    const key = [orgId, projectId, id, service, collection].join(" ");
    const found = decided.get(key) ?? mayReadResource(holds, row, decisionPath(row, resourceOf(row)));
    decided.set(key, found);
    return found;
  };
  const readable = await Promise.all(rows.map(mayRead));
  return messages.map((message, index) => (readable[index] === true ? message : withoutResource(message)));
}

export async function showOperation(holds: Holds, row: OperationRow): Promise<Operation> {
  return required((await showOperations(holds, [row]))[0]);
}

/** Returns the reference by which conditions see the resource: what is deleted, or no longer exists, has no name. */
function resourceOf({ resource_id: id, resource_name: name, resource_delete_time: time }: OperationRow): Reference {
  return name === null || time !== null ? { by: "id", value: id } : { by: "name", value: name };
}

function withoutResource(operation: Operation): Operation {
  return {
    ...operation,
    quantities: {},
    givenQuantities: {},
    qualities: {},
    givenQualities: {},
    outputs: undefined,
    references: {},
    routingKey: "",
  };
}
