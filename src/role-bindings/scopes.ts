// Where role bindings stand: each kind of scope has paths of its own, and is described once.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { NamedTable } from "../database/match-reference.ts";
import type { RoleBindings } from "../database/schema.ts";
import type { Column } from "../filters/filter-fields.ts";
import { type PathPattern, otherPatterns, patterns } from "../paths/patterns.ts";

export interface Scope {
  readonly type: RoleBindings["scope_type"];
  readonly pattern: PathPattern;
  /** The tables of the levels above the bindings, from the top, and the columns of bindings that hold their ids. */
  readonly parentTables: readonly NamedTable[];
  readonly parentColumns: readonly Column[];
  /** What orders a list by default. */
  readonly uniqueKey: readonly Column[];
  /** Whether bindings are found below their org by their labels. */
  readonly isInOrg: boolean;
  /** The condition that a binding, joined with all that it can be in, is in such a scope. */
  readonly holds: RawBuilder<SqlBool>;
}

export const scopes = {
  org: {
    type: "ORG",
    pattern: patterns.RoleBinding,
    parentTables: ["orgs"],
    parentColumns: ["role_bindings.scope_id"],
    uniqueKey: ["role_bindings.scope_id", "role_bindings.id"],
    isInOrg: true,
    holds: sql<SqlBool>`(role_bindings.scope_type = 'ORG' and role_bindings.scope_id = orgs.id)`,
  },
  project: {
    type: "PROJECT",
    pattern: otherPatterns.projectRoleBinding,
    parentTables: ["orgs", "projects"],
    parentColumns: ["role_bindings.org_id", "role_bindings.project_id"],
    uniqueKey: ["role_bindings.org_id", "role_bindings.project_id", "role_bindings.id"],
    isInOrg: true,
    holds: sql<SqlBool>`(role_bindings.scope_type = 'PROJECT' and role_bindings.scope_id = projects.id)`,
  },
  customer: {
    type: "CUSTOMER",
    pattern: otherPatterns.customerRoleBinding,
    parentTables: ["customers"],
    parentColumns: ["role_bindings.customer_id"],
    uniqueKey: ["role_bindings.customer_id", "role_bindings.id"],
    isInOrg: false,
    holds: sql<SqlBool>`(role_bindings.scope_type = 'CUSTOMER' and role_bindings.scope_id = customers.id)`,
  },
  platform: {
    type: "PLATFORM",
    pattern: otherPatterns.platformRoleBinding,
    parentTables: [],
    parentColumns: [],
    uniqueKey: ["role_bindings.id"],
    isInOrg: false,
    holds: sql<SqlBool>`role_bindings.scope_type = 'PLATFORM'`,
  },
} as const satisfies Record<string, Scope>;
