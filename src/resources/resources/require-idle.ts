import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { operationPath, resourcePath } from "./message.ts";
import type { InfrastructureRow } from "./store.ts";

/** @throws ServiceError STATE_FORBIDS when an operation is changing the resource. */
export function requireIdle(row: InfrastructureRow): void {
  if (row.operation_id === null) return;
  const path = resourcePath(row);
  const operation = operationPath({ ...row, id: row.operation_id });
  const message = `the resource ${path} is ${row.state}: wait for the operation ${operation}, or cancel it`;
  throw stateForbids(message, path, row.state);
}
