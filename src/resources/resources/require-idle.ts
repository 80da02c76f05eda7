import { stateForbids, stateOf } from "../../standard-methods/definition/lifecycle.ts";
import { operationPath, resourcePath } from "./message.ts";
import type { InfrastructureRow } from "./store.ts";

/** @throws ServiceError STATE_FORBIDS when an operation is changing the resource. */
export function requireIdle(row: InfrastructureRow): void {
  if (row.operation_id === null) return;
  const path = resourcePath(row);
  const operation = operationPath({ ...row, id: row.operation_id });
  const state = stateOf(row);
  const message = `the resource ${path} is ${state}: wait for the operation ${operation}, or cancel it`;
  throw stateForbids(message, path, state);
}
