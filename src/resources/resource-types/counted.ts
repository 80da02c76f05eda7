// Which kinds of Quantities count against quotas. A variable that is stored without `counted` does not: it is from before the default.
import type { OperationType, QuantityVariable } from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import type { StoredOperationType } from "../../database/schema.ts";

/** The Quantities of an operation, as it is stored or as its message has them. */
export interface QuantityLists {
  readonly quantities?: readonly Variable[];
  readonly givenQuantities?: readonly Variable[];
}

interface Variable {
  readonly kind: string;
  readonly counted?: boolean | undefined;
}

function quantitiesOf(operations: readonly QuantityLists[]): Variable[] {
  return operations.flatMap(({ quantities = [], givenQuantities = [] }) => [...quantities, ...givenQuantities]);
}

/** Returns the kinds that any operation of a type counts against quotas. */
export function countedKinds(operations: readonly QuantityLists[]): Set<string> {
  return new Set(
    quantitiesOf(operations)
      .filter(({ counted }) => counted === true)
      .map(({ kind }) => kind),
  );
}

/**
 * Returns operations in which each Quantity says whether it is counted. One that does not say so is, unless the type has its kind
 * and does not count it.
 *
 * @param before the operations that the type has.
 */
export function withCounted(
  operations: readonly OperationType[],
  before: readonly StoredOperationType[] = [],
): OperationType[] {
  const known = new Set(quantitiesOf(before).map(({ kind }) => kind));
  const counted = countedKinds(before);
  const complete = (variables: readonly QuantityVariable[]): QuantityVariable[] =>
    variables.map((each) => ({ ...each, counted: each.counted ?? (!known.has(each.kind) || counted.has(each.kind)) }));
  return operations.map((each) => ({
    ...each,
    quantities: complete(each.quantities),
    givenQuantities: complete(each.givenQuantities),
  }));
}

/** Reports whether a type counts none of its Quantities, and does not say of each that it is not counted. */
export function countsByOmission(operations: readonly StoredOperationType[]): boolean {
  return countedKinds(operations).size === 0 && quantitiesOf(operations).some(({ counted }) => counted === undefined);
}
