import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { countedKinds } from "../resource-types/counted.ts";
import { type Variables, readGiven, requireGrades } from "../operations/read-variables.ts";
import type { OperationRow } from "../operations/store.ts";
import { requireWithinSurplus } from "../operations/surplus.ts";
import { readTypeOnce } from "../resource-types/find-type.ts";
import { wantedAfter } from "../resources/change-resource.ts";
import { requireOperation } from "../resources/rules.ts";
import type { InfrastructureRow } from "../resources/store.ts";

/**
 * Checks what a provider returns for an operation that it has carried out.
 *
 * @returns what was given of everything that was wanted or is mentioned.
 * @throws ServiceError FIELD_INVALID with a violation for each.
 */
export async function readCompletion(
  transaction: OrgTransaction,
  operation: OperationRow,
  resource: InfrastructureRow,
  returned: Variables,
): Promise<Variables> {
  const type = await readTypeOnce(transaction, operation.type_id);
  const definition = requireOperation(type, operation.verb, "operation_path");
  const least = wantedAfter(resource, operation);
  const given = readGiven(definition, operation, returned, least);
  requireWithinSurplus([definition], returned.quantities, {
    wanted: least.quantities,
    has: resource.given_quantities,
    counted: countedKinds(type.operations),
  });
  await requireGrades(transaction.db, returned.qualities);
  return given;
}
