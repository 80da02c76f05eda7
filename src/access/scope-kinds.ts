// The kinds of scope on which roles are bound, in the words of the code and in those of the table `role_bindings`. Nothing else
// translates between the two.
import type { RoleBindings } from "../database/schema.ts";

const types = { platform: "PLATFORM", customer: "CUSTOMER", org: "ORG", project: "PROJECT" } as const;
const kinds = { PLATFORM: "platform", CUSTOMER: "customer", ORG: "org", PROJECT: "project" } as const;

/** As the code says it. */
export type ScopeKind = keyof typeof types;

/** As the table says it. */
export type ScopeType = RoleBindings["scope_type"];

/** The columns of a role binding that say where it stands. */
export interface ScopeColumns {
  readonly scope_type: ScopeType;
  readonly org_id: string;
  readonly customer_id: string | null;
  readonly project_id: string | null;
}

export function scopeKindOf(type: ScopeType): ScopeKind {
  return kinds[type];
}

export function scopeTypeOf(kind: ScopeKind): ScopeType {
  return types[kind];
}

/** The id of what a role is bound on; null for the platform. */
export function scopeIdOf(row: ScopeColumns): string | null {
  switch (row.scope_type) {
    case "PLATFORM":
      return null;
    case "CUSTOMER":
      return row.customer_id;
    case "ORG":
      return row.org_id;
    case "PROJECT":
      return row.project_id;
  }
}
