// What resources hold of the quotas above them: the amounts of their Quantities that count.
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { LedgerPlace } from "../quotas/levels.ts";
import { type QuantityLists, countedKinds } from "./resource-types/counted.ts";

/** Returns the amounts of the kinds that any operation of a type counts against quotas, as exact decimals. */
export function countedAmounts(
  operations: readonly QuantityLists[],
  amounts: Readonly<Record<string, number>>,
): ReadonlyMap<string, string> {
  const counted = countedKinds(operations);
  return new Map(
    Object.entries(amounts).flatMap(([kind, amount]) => (counted.has(kind) ? [[kind, String(amount)] as const] : [])),
  );
}

export function placeOf({ org }: OrgTransaction, resource: { readonly project_id: string }): LedgerPlace {
  return { customerId: org.customer_id, orgId: org.id, projectId: resource.project_id };
}
