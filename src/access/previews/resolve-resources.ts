import { patterns } from "../../paths/patterns.ts";
import { required } from "../../errors/required.ts";
import type { SnapshotChange } from "../engine/loading/apply-change.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import type { RoleBindingRow } from "../engine/loading/rows.ts";
import type { AccessEvaluator } from "../evaluation/evaluator.ts";
import { resolveById } from "../evaluation/resolve-in-snapshot.ts";
import { type ResolvedTarget, onPlatform } from "../evaluation/resolved-target.ts";

/** Returns the resolved target of a resource of the engine. */
export type ResolveResource = (resource: TargetScope) => ResolvedTarget;

/**
 * Creates the function that resolves resources. Reads the customers that the changes concern in advance; orgs and projects are
 * in the snapshot.
 */
export async function createResolveResource(
  evaluator: AccessEvaluator,
  snapshot: OrgSnapshot,
  changes: readonly SnapshotChange[],
): Promise<ResolveResource> {
  const ids = new Set([...snapshot.scopes.customerIds(), ...changes.flatMap(customerOf)]);
  const customers = new Map<string, ResolvedTarget>();
  const addCustomer = async (value: string): Promise<void> => {
    const path = { pattern: patterns.Customer, references: [{ by: "id", value } as const] };
    const found = await evaluator.resolve(snapshot, path);
    if (found !== undefined) customers.set(value, found);
  };
  await Promise.all([...ids].map(addCustomer));
  return (resource) => {
    switch (resource.kind) {
      case "platform":
        return onPlatform;
      case "customer":
        return required(customers.get(resource.customerId));
      case "org":
        return resolveById(snapshot);
      case "project":
        return resolveById(snapshot, resource.projectId);
    }
  };
}

/** Returns the customer on which a change grants a role, if there is one. */
function customerOf({ resource_type: type, before, after }: SnapshotChange): string[] {
  const row = (after ?? before) as RoleBindingRow;
  return type === "RoleBinding" && row.scope_type === "customer" && row.scope_id !== null ? [row.scope_id] : [];
}
