// What an update of a ResourceType must leave as it is, because resources of the type rely on it.
import type { OperationType } from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import type { StoredOperationType } from "../../database/schema.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { countedKinds } from "./counted.ts";

/**
 * Checks that an update keeps each operation, and counts the same kinds against quotas.
 *
 * @param after each Quantity says whether it is counted.
 * @param resource the path of a resource of the type.
 * @throws ServiceError RESOURCE_IN_USE
 */
export function requireKept(
  before: readonly StoredOperationType[],
  after: readonly OperationType[],
  resource: string,
): void {
  const verbs = new Set(after.map(({ verb }) => verb));
  const lost = before.find(({ verb }) => !verbs.has(verb));
  if (lost !== undefined) throw relied(`the operation ${lost.verb} cannot be removed`, resource);
  const [countedBefore, countedAfter] = [countedKinds(before), countedKinds(after)];
  const changed = [...countedBefore, ...countedAfter].filter(
    (kind) => !(countedBefore.has(kind) && countedAfter.has(kind)),
  );
  if (changed.length > 0) {
    throw relied(`whether ${changed.join(", ")} counts against quotas cannot be changed`, resource);
  }
}

function relied(problem: string, resource: string): ServiceError {
  return new ServiceError("RESOURCE_IN_USE", `${problem} while there are resources of the type, such as ${resource}`, {
    metadata: { used_by: resource },
  });
}
