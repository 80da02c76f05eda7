// How much a provider may give beyond what is wanted. It counts against quotas that others need, too.
import type { StoredOperationType, StoredQuantity } from "../../database/schema.ts";
import { mapEntry } from "../../errors/map-entry.ts";
import { invalidFields } from "../../errors/service-error.ts";
import { maxAmount, sumOf } from "../amounts.ts";

type ByKind = Readonly<Record<string, number>>;

/** What the given amounts of a resource are compared with. */
export interface GivenLimits {
  readonly wanted: ByKind;
  /** What it was given before, which it may keep. */
  readonly has: ByKind;
  readonly counted: ReadonlySet<string>;
}

/**
 * Checks that a provider gives no more than an operation allows.
 *
 * @param operations of which one is enough to allow it.
 * @param given amounts of kinds that the operations have.
 * @throws ServiceError FIELD_INVALID with a violation for each kind: `given_quantities["cpu_cores"]`.
 */
export function requireWithinSurplus(
  operations: readonly StoredOperationType[],
  given: ByKind,
  { wanted, has, counted }: GivenLimits,
): void {
  const violations = Object.entries(given).flatMap(([kind, amount]) => {
    const least = amountOf(wanted, kind);
    const allowed = operations.map((operation) => mostOf(operation, kind, least, counted.has(kind)));
    const most = Math.max(least, amountOf(has, kind), ...allowed);
    if (amount <= most) return [];
    const description = `must be at most ${most}, got ${amount}: ${least} is wanted, and the surplus or maximum of ${kind} in the resource type allows no more`;
    return [{ field: mapEntry("given_quantities", kind), description, rule: "surplus" }];
  });
  if (violations.length > 0) throw invalidFields(violations);
}

/** Returns how much of a kind an operation lets its provider give. */
function mostOf(
  { quantities = [], givenQuantities = [] }: StoredOperationType,
  kind: string,
  least: number,
  isCounted: boolean,
): number {
  const isOfKind = (variable: StoredQuantity): boolean => variable.kind === kind;
  const returned = givenQuantities.find(isOfKind);
  const variables = [...quantities.filter(isOfKind), ...(returned === undefined ? [] : [returned])];
  if (variables.length === 0) return least;
  const { maximum = maxAmount } = returned ?? {};
  const surpluses = variables.flatMap(({ surplus }) => surplus ?? []);
  if (surpluses.length > 0) return Math.min(maximum, sumOf(least, Math.max(...surpluses)));
  return isCounted && returned?.maximum === undefined ? sumOf(least, least) : maximum;
}

const amountOf = (amounts: ByKind, kind: string): number => (Object.hasOwn(amounts, kind) ? (amounts[kind] ?? 0) : 0);
