// A snapshot of a small org, for tests of what is decided from snapshots alone.
import type { Narrowing } from "../../src/access/engine/decisions/narrowing.ts";
import { loadRows } from "../../src/access/engine/loading/load-rows.ts";
import type { RoleBindingRow } from "../../src/access/engine/loading/rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import type { PredefinedRoles } from "../../src/access/engine/tables/role-table.ts";
import type { CheckRequest } from "../../src/access/evaluation/check-request.ts";
import { compileWithinBudget } from "../../src/access/evaluation/condition-input.ts";
import { createRequestConditions } from "../../src/access/evaluation/condition-budget.ts";
import { registry } from "../../src/resource-registry.ts";
import { conditionCollectionsOf } from "../../src/standard-methods/definition/condition-collections.ts";

export const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;

/** The org `acme` of a customer, with two members, a group, two projects, of which one is suspended, and one that is deleted. */
export const [acme, customer, alice, bob, web, paused, gone, team] = [1, 2, 3, 4, 5, 6, 7, 8].map(idOf) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];

/** When the checks are made. */
export const now = Date.UTC(2030, 5, 1);

export const names = { collections: conditionCollectionsOf(registry.definitions) };

/** A binding of a predefined role. It is on the org, and to alice, by default. */
export interface SampleBinding {
  readonly role: string;
  readonly on?: Pick<RoleBindingRow, "scope_type" | "scope_id">;
  readonly to?: string;
  readonly condition?: string;
}

export const onPlatform = { scope_type: "platform", scope_id: null } as const;
export const onCustomer = { scope_type: "customer", scope_id: customer } as const;
export const onProject = (id: string) => ({ scope_type: "project", scope_id: id }) as const;
const onOrg = { scope_type: "org", scope_id: acme } as const;

interface SampleState {
  readonly state?: "ACTIVE" | "SUSPENDED";
  readonly isDeleted?: boolean;
}

export function createSampleSnapshot(
  predefinedRoles: PredefinedRoles = {},
  bindings: readonly SampleBinding[] = [],
  { state = "ACTIVE", isDeleted = false }: SampleState = {},
): OrgSnapshot {
  const snapshot = createOrgSnapshot({
    org: {
      id: acme,
      name: "acme",
      customer_id: customer,
      state,
      delete_time: isDeleted ? now : null,
      labels: { tier: "gold" },
      revision: "7",
    },
    predefinedRoles,
    compileCondition: compileWithinBudget,
  });
  loadRows(snapshot, {
    members: [
      { id: alice, name: "alice", state: "ACTIVE" },
      { id: bob, name: "bob", state: "ACTIVE" },
    ],
    groups: [{ id: team, name: "team" }],
    projects: [
      { id: web, name: "web", state: "ACTIVE", labels: { env: "dev" } },
      { id: paused, name: "paused", state: "SUSPENDED" },
      { id: gone, name: "gone", state: "ACTIVE", delete_time: now },
    ],
    role_bindings: bindings.map(({ role, on = onOrg, to = alice, condition = "" }, index) => ({
      id: idOf(100 + index),
      ...on,
      subject_type: "member",
      subject_id: to,
      role_id: null,
      predefined_role: role,
      start_time: null,
      expire_time: null,
      condition,
    })),
  });
  return snapshot;
}

/** Returns a check of what a member may do, alice by default. */
export function checkOf(memberId: string = alice, narrowing?: Narrowing): CheckRequest {
  const subject = { kind: "member", id: memberId } as const;
  return { subject, attributes: {}, now, counted: "all", narrowing, conditions: createRequestConditions() };
}
