// The kinds of scope on which roles are bound, as the code names them and as the table `role_bindings` stores them. No other
// code converts between the two.
import type { RoleBindings } from "../database/schema.ts";

const types = {
  platform: "PLATFORM",
  customer: "CUSTOMER",
  service: "SERVICE",
  org: "ORG",
  project: "PROJECT",
} as const;

const kinds = {
  PLATFORM: "platform",
  CUSTOMER: "customer",
  SERVICE: "service",
  ORG: "org",
  PROJECT: "project",
} as const;

export type ScopeKind = keyof typeof types;

export type ScopeType = RoleBindings["scope_type"];

/** The columns of a role binding that determine its scope. */
export interface ScopeColumns {
  readonly scope_type: ScopeType;
  readonly org_id: string;
  readonly customer_id: string | null;
  readonly service_id: string | null;
  readonly project_id: string | null;
}

export function scopeKindOf(type: ScopeType): ScopeKind {
  return kinds[type];
}

export function scopeTypeOf(kind: ScopeKind): ScopeType {
  return types[kind];
}

export function scopeIdOf(row: ScopeColumns): string | null {
  switch (row.scope_type) {
    case "PLATFORM":
      return null;
    case "CUSTOMER":
      return row.customer_id;
    case "SERVICE":
      return row.service_id;
    case "ORG":
      return row.org_id;
    case "PROJECT":
      return row.project_id;
  }
}
