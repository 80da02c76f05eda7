import type { StoredOperationType } from "../../database/schema.ts";
import { stateForbids, stateOf } from "../../standard-methods/definition/lifecycle.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { operationIdsOf, operationPath, resourcePath } from "./message.ts";
import type { InfrastructureRow } from "./store.ts";

/** How many concurrent operations of a resource run at once. */
const maxConcurrent = 16;

/** @throws ServiceError STATE_FORBIDS when an operation is changing the resource. */
export function requireIdle(row: InfrastructureRow): void {
  const [first, ...others] = operationIdsOf(row);
  if (first === undefined) return;
  const path = resourcePath(row);
  const state = stateOf(row);
  const operation = operationPath({ ...row, id: first });
  const remedy =
    others.length === 0
      ? `wait for the operation ${operation}, or cancel it`
      : `wait for its ${others.length + 1} operations, or cancel them; the first is ${operation}`;
  throw stateForbids(`the resource ${path} is ${state}: ${remedy}`, path, state);
}

/**
 * Checks that an operation can start beside those that are changing the resource.
 *
 * @throws ServiceError STATE_FORBIDS unless all of them and this one are concurrent, LIMIT_EXCEEDED when there are too many.
 */
export function requireStartable(row: InfrastructureRow, { concurrent = false }: StoredOperationType): void {
  const running = row.concurrent_ids.length;
  if (!concurrent || running === 0) return requireIdle(row);
  if (running < maxConcurrent) return;
  const path = resourcePath(row);
  const description = `the resource ${path} has ${maxConcurrent} operations, which is as many as can run at once: wait for one`;
  throw new ServiceError("LIMIT_EXCEEDED", description, {
    metadata: { resource: path, limit: String(maxConcurrent) },
    quotas: [{ subject: path, description }],
  });
}
