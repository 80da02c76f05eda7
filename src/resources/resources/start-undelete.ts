import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { checkTransition, stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { makeTransitions } from "../../standard-methods/rows/make-transitions.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { mapErrors } from "../../standard-methods/write/map-errors.ts";
import { requireRoom } from "../../standard-methods/write/require-room.ts";
import { readType } from "../resource-types/find-type.ts";
import { infrastructureDefinition } from "./definition.ts";
import { resourcePath, toResource } from "./message.ts";
import { requireIdle } from "./require-idle.ts";
import { requireOperation } from "./rules.ts";
import { type Started, nothingGiven, start } from "./start-change.ts";
import type { InfrastructureRow } from "./store.ts";

type Served = ServedResource<"resources", InfrastructureRow, typeof infrastructureDefinition.schema>;

/**
 * Starts the operation `undelete` of a deleted resource. Its name is taken from now on.
 *
 * @throws ServiceError STATE_FORBIDS while an operation is changing the resource, when it is not DELETED or its purge time has
 *   passed; RESOURCE_EXISTS when its name has been taken; LIMIT_EXCEEDED.
 */
export async function startUndelete(
  served: Served,
  transaction: OrgTransaction,
  row: InfrastructureRow,
): Promise<Started> {
  const { db, org, author, revision, time, newId } = transaction;
  requireIdle(row);
  checkTransition(row, "undelete", "resource", resourcePath(row));
  const type = await readType(db, row.type_id);
  requireOperation(type, "undelete", "path");
  const { retentionDays } = served.dependencies;
  const id = newId();
  const columns = { state: "UPDATING", state_reason: "", operation_id: id } as const;
  const target = { db, org, revision, time };
  const making = makeTransitions(target, infrastructureDefinition, [row], {
    transition: "undelete",
    retentionDays,
    columns,
  });
  const made = await making.catch(mapErrors(served, author, toResource(row)));
  const [resource] = made.rows;
  if (resource === undefined) {
    const path = resourcePath(row);
    throw stateForbids(`the resource ${path} is DELETED, and its purge_time has passed`, path, "DELETED");
  }
  await requireRoom(served, made.rows, made.counts, alone);
  recordChange(transaction, infrastructureDefinition, row, resource);
  const nothing = { isConcurrent: false, wanted: nothingGiven.variables, references: {} };
  const { authorHolds } = served.dependencies;
  return start(transaction, authorHolds, { id, verb: "undelete", resource, priorState: "DELETED", type, ...nothing });
}
