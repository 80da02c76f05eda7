import type { GrantScope } from "../access/grants.ts";
import type { ResourceType } from "../paths/patterns.ts";

/** Whether an update gives a row another name; some have none of their own. */
export function isRenamed(row: object, message: object): boolean {
  const [before, after] = [nameIn(row), nameIn(message)];
  return before !== undefined && after !== undefined && before !== after;
}

function nameIn(holder: { readonly name?: unknown }): string | undefined {
  return typeof holder.name === "string" ? holder.name : undefined;
}

/** Where something must be granted to count for a resource. */
export function scopeAround(type: ResourceType, orgId: string, row: object): GrantScope {
  const {
    id = "",
    project_id: projectId = null,
    customer_id: customerId = null,
    scope_type: scopeType,
  } = row as Scoped;
  if (type === "Customer") return { kind: "customer", id };
  if (type === "Project") return { kind: "project", id };
  if (type !== "RoleBinding") return { kind: "org", id: orgId };
  if (projectId !== null) return { kind: "project", id: projectId };
  if (customerId !== null) return { kind: "customer", id: customerId };
  return scopeType === "PLATFORM" ? { kind: "platform", id: "" } : { kind: "org", id: orgId };
}

/** The columns of rows that say so. */
interface Scoped {
  readonly id?: string;
  readonly project_id?: string | null;
  readonly customer_id?: string | null;
  readonly scope_type?: string;
}
