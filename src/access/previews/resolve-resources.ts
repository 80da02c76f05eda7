import { patterns } from "../../paths/patterns.ts";
import { required } from "../../errors/required.ts";
import type { LogEntry } from "../engine/loading/apply-entry.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import type { RoleBindingRow } from "../engine/loading/rows.ts";
import type { AccessEvaluator } from "../evaluation/evaluator.ts";
import { resolveById } from "../evaluation/resolve-in-snapshot.ts";
import { type ResolvedTarget, onPlatform } from "../evaluation/resolved-target.ts";

export type ResolveResource = (resource: TargetScope) => ResolvedTarget;

/**
 * Creates the function that resolves resources. Reads the customers and services that the changes concern in advance; orgs and
 * projects are in the snapshot.
 */
export async function createResolveResource(
  evaluator: AccessEvaluator,
  snapshot: OrgSnapshot,
  changes: readonly LogEntry[],
): Promise<ResolveResource> {
  const readOuter = async (kind: OuterKind): Promise<ReadonlyMap<string, ResolvedTarget>> => {
    const ids = new Set([...snapshot.scopes.outerIds(kind), ...changes.flatMap((change) => outerIdOf(change, kind))]);
    const found = new Map<string, ResolvedTarget>();
    const add = async (value: string): Promise<void> => {
      const path = { pattern: outerPatterns[kind], references: [{ by: "id", value } as const] };
      const target = await evaluator.resolve(snapshot, path);
      if (target !== undefined) found.set(value, target);
    };
    await Promise.all([...ids].map(add));
    return found;
  };
  const [customers, services] = await Promise.all([readOuter("customer"), readOuter("service")]);
  return (resource) => {
    switch (resource.kind) {
      case "platform":
        return onPlatform;
      case "customer":
        return required(customers.get(resource.customerId));
      case "service":
        return required(services.get(resource.serviceId));
      case "org":
        return resolveById(snapshot);
      case "project":
        return resolveById(snapshot, resource.projectId);
    }
  };
}

const outerPatterns = { customer: patterns.Customer, service: patterns.Service };
type OuterKind = keyof typeof outerPatterns;

/** Returns the id of the customer or service on which a change grants a role, if there is one. */
function outerIdOf({ resource_type: type, before, after }: LogEntry, kind: OuterKind): string[] {
  const row = (after ?? before) as RoleBindingRow;
  return type === "RoleBinding" && row.scope_type === kind && row.scope_id !== null ? [row.scope_id] : [];
}
