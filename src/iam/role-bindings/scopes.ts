// The kinds of scope of role bindings. Each has its own paths.
import { sql } from "kysely";
import type { GrantScope } from "../../access/escalation/guard-types.ts";
import { customerDefinition } from "../customers/definition.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { serviceLevel } from "../../database/match-reference.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import { projectDefinition } from "../projects/definition.ts";
import { type Revalidation, type ResourcePlace, below } from "../../standard-methods/definition/definition.ts";

export interface Scope {
  readonly kind: GrantScope["kind"];
  readonly place: ResourcePlace;
}

/** Only members and groups of the org `system` can hold roles on services and on the platform. */
const ofSystem: Revalidation = { revalidatedBy: ["system"] };

export const scopes = {
  org: {
    kind: "org",
    place: {
      pattern: patterns.RoleBinding,
      parents: below(orgDefinition, "scope_id"),
      holds: sql`(role_bindings.scope_type = 'ORG' and role_bindings.scope_id = orgs.id)`,
    },
  },
  project: {
    kind: "project",
    place: {
      pattern: otherPatterns.projectRoleBinding,
      parents: below(projectDefinition, "project_id"),
      holds: sql`(role_bindings.scope_type = 'PROJECT' and role_bindings.scope_id = projects.id)`,
    },
  },
  customer: {
    kind: "customer",
    place: {
      pattern: otherPatterns.customerRoleBinding,
      parents: below(customerDefinition, "customer_id"),
      holds: sql`(role_bindings.scope_type = 'CUSTOMER' and role_bindings.scope_id = customers.id)`,
      responses: {
        neverRevalidated: "the bindings are in all orgs of the customer: to read their revisions costs as much",
      },
    },
  },
  service: {
    kind: "service",
    place: {
      pattern: otherPatterns.serviceRoleBinding,
      // Services are of an area above this one.
      parents: [{ type: "Service", collection: "services", column: "service_id", ...serviceLevel }],
      holds: sql`(role_bindings.scope_type = 'SERVICE' and role_bindings.scope_id = services.id)`,
      responses: ofSystem,
    },
  },
  platform: {
    kind: "platform",
    place: {
      pattern: otherPatterns.platformRoleBinding,
      parents: [],
      holds: sql`role_bindings.scope_type = 'PLATFORM'`,
      responses: ofSystem,
    },
  },
} as const satisfies Record<string, Scope>;
