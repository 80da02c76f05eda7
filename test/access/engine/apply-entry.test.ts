import { beforeEach, describe, expect, test } from "vitest";
import { type LogEntry, applyEntry } from "../../../src/access/engine/loading/apply-entry.ts";
import { decide } from "../../../src/access/engine/decisions/decide.ts";
import { explainInSteps } from "../../../src/access/engine/decisions/explain-decision.ts";
import { runSteps } from "../../../src/scheduling/steps.ts";
import { listSubjects } from "../../../src/access/engine/decisions/list-subjects.ts";
import { loadRows } from "../../../src/access/engine/loading/load-rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../../src/access/engine/org-snapshot.ts";
import type { TargetScope } from "../../../src/access/engine/decisions/target-scope.ts";
import type { RoleBindingRow } from "../../../src/access/engine/loading/rows.ts";

const idOf = (kind: number, number = 0): string => `0000000${kind}-0000-7000-8000-${String(number).padStart(12, "0")}`;
const [org, customer, alice, staff, all, web, operator, binding] = [1, 2, 3, 4, 5, 6, 7, 8].map((kind) =>
  idOf(kind),
) as [string, string, string, string, string, string, string, string];
const orgRow = { id: org, name: "acme", customer_id: customer, state: "ACTIVE", delete_time: null } as const;
const aliceRow = { id: alice, name: "alice", state: "ACTIVE", delete_time: null } as const;
const webRow = { id: web, name: "web", state: "ACTIVE", delete_time: null } as const;
const staffRow = { id: staff, name: "staff" };
const operatorRow = { id: operator, name: "operator", permissions: ["compute.instances.start"] };
const membership = { group_id: staff, member_id: alice, expire_time: null };
const nesting = { group_id: all, subgroup_id: staff };
const bindingRow: RoleBindingRow = {
  id: binding,
  scope_type: "project",
  scope_id: web,
  subject_type: "group",
  subject_id: all,
  role_id: operator,
  predefined_role: null,
  start_time: null,
  expire_time: null,
  condition: "",
};
const deleteTime = "2030-01-01T00:00:00.000Z";
const now = Date.UTC(2030, 5, 1);
const inWeb: TargetScope = { kind: "project", customerId: customer, orgId: org, projectId: web };

let snapshot: OrgSnapshot;

beforeEach(() => {
  snapshot = createOrgSnapshot({
    org: { ...orgRow, revision: "7" },
    predefinedRoles: { owner: { permissions: "*" } },
    compileCondition: () => () => true,
  });
  loadRows(snapshot, {
    members: [aliceRow],
    groups: [staffRow, { id: all, name: "all" }],
    projects: [webRow],
    roles: [operatorRow],
    group_members: [membership],
    subgroups: [nesting],
    role_bindings: [bindingRow],
  });
});

function apply(type: string, id: string, before: object | null, after: object | null, sweepLimit?: number): void {
  const change: LogEntry = { resource_type: type, resource_id: id, before, after };
  applyEntry(snapshot, change, sweepLimit);
}

function may(resource: TargetScope = inWeb, at = now): boolean {
  const subject = { kind: "member", id: alice } as const;
  return decide(snapshot, {
    subject,
    permission: "compute.instances.start",
    resource,
    now: at,
    conditionContext: {},
    counted: "all",
  });
}

describe("a member of a group that is nested in a group with a role", () => {
  test("has the permissions of the role, on its scope", () => {
    expect(may()).toBe(true);
    expect(may({ kind: "org", customerId: customer, orgId: org })).toBe(false);
    expect(may({ ...inWeb, projectId: idOf(6, 1) })).toBe(false);
    expect(may({ ...inWeb, orgId: idOf(1, 1) })).toBe(false);
  });

  const removals: [what: string, type: string, id: string, before: object, after: object | null][] = [
    ["the member is suspended", "Member", alice, aliceRow, { ...aliceRow, state: "SUSPENDED" }],
    ["the member is deleted", "Member", alice, aliceRow, { ...aliceRow, delete_time: deleteTime }],
    ["the member is purged", "Member", alice, { ...aliceRow, delete_time: deleteTime }, null],
    ["the membership is deleted", "GroupMember", alice, membership, null],
    ["the membership expires", "GroupMember", alice, membership, { ...membership, expire_time: deleteTime }],
    ["the nesting is deleted", "Subgroup", staff, nesting, null],
    ["the inner group is deleted", "Group", staff, staffRow, null],
    ["the group with the role is deleted", "Group", all, { id: all, name: "all" }, null],
    ["the role is deleted", "Role", operator, operatorRow, null],
    ["the role loses the permission", "Role", operator, operatorRow, { ...operatorRow, permissions: ["a.b.c"] }],
    ["the binding is deleted", "RoleBinding", binding, bindingRow, null],
    ["the binding expires", "RoleBinding", binding, bindingRow, { ...bindingRow, expire_time: deleteTime }],
    [
      "the binding starts later",
      "RoleBinding",
      binding,
      bindingRow,
      { ...bindingRow, start_time: "2030-06-01T00:00:00.001Z" },
    ],
    ["the binding gets an unknown role", "RoleBinding", binding, bindingRow, { ...bindingRow, role_id: idOf(7, 1) }],
    ["the project is deleted", "Project", web, webRow, { ...webRow, delete_time: deleteTime }],
    ["the project is purged", "Project", web, { ...webRow, delete_time: deleteTime }, null],
    ["the org is deleted", "Org", org, orgRow, { ...orgRow, delete_time: deleteTime }],
  ];

  test.each(removals)("loses the permission when %s", (_what, type, id, before, after) => {
    expect(may()).toBe(true);
    apply(type, id, before, after, 0);
    expect(may()).toBe(false);
    expect(
      runSteps(
        listSubjects(snapshot, {
          permission: "compute.instances.start",
          resource: inWeb,
          now,
          contextOf: () => ({}),
          limit: 9,
        }),
      ).ids,
    ).toEqual([]);
  });

  test.each(removals.filter(([, , , , after]) => after !== null))(
    "regains the permission when this is reverted: %s",
    (_what, type, id, before, after) => {
      apply(type, id, before, after);
      apply(type, id, after, before);
      expect(may()).toBe(true);
    },
  );

  test("has the permission from the start of the binding until just before its end", () => {
    const [start, end] = [now, now + 1000];
    apply("RoleBinding", binding, bindingRow, {
      ...bindingRow,
      start_time: new Date(start).toISOString(),
      expire_time: new Date(end).toISOString(),
    });
    expect([start - 1, start, end - 1, end].map((at) => may(inWeb, at))).toEqual([false, true, true, false]);
  });

  test("gets an explanation: the grant, or the missing role and its grantors", () => {
    const query = {
      subject: { kind: "member", id: alice } as const,
      permission: "compute.instances.start",
      resource: inWeb,
      now,
      conditionContext: {},
      counted: "all" as const,
    };
    const options = { maxRoles: 5, maxGrantors: 5, contextOf: () => ({}) };
    expect(runSteps(explainInSteps(snapshot, query, options))).toEqual({
      allowed: true,
      groups: [staff, all],
      binding: { id: binding, scope: { kind: "project", id: web } },
      role: { kind: "custom", id: operator },
    });
    const carol = idOf(3, 1);
    apply("Member", carol, null, { ...aliceRow, id: carol, name: "carol" });
    const ownership = {
      ...bindingRow,
      id: idOf(8, 1),
      subject_type: "member",
      subject_id: carol,
      role_id: null,
      predefined_role: "owner",
    };
    apply("RoleBinding", ownership.id, null, { ...ownership, scope_type: "org", scope_id: org });
    apply("Member", alice, aliceRow, { ...aliceRow, state: "SUSPENDED" });
    expect(runSteps(explainInSteps(snapshot, query, options))).toEqual({
      allowed: false,
      subjectState: "SUSPENDED",
      orgState: "ACTIVE",
      unmet: [],
      roles: [
        { kind: "custom", id: operator },
        { kind: "predefined", name: "owner" },
      ],
      grantors: [carol],
    });
  });

  test("gets only the grantors of the smallest sufficient role", () => {
    const [first, last] = [idOf(3, 1), idOf(3, 2)];
    const [binder, unbound] = [idOf(6, 1), idOf(6, 2)];
    apply("Member", first, null, { ...aliceRow, id: first, name: "first" });
    apply("Member", last, null, { ...aliceRow, id: last, name: "last" });
    const bind = ["iam.roleBindings.create"];
    apply("Role", binder, null, { id: binder, name: "binder", permissions: bind });
    apply("Role", unbound, null, {
      id: unbound,
      name: "unbound",
      permissions: [...bind, "iam.roleBindings.grantUnheld"],
    });
    const give = (number: number, member: string, role: string) =>
      apply("RoleBinding", idOf(8, number), null, {
        ...bindingRow,
        id: idOf(8, number),
        subject_type: "member",
        subject_id: member,
        role_id: role,
      });
    const grantors = () => {
      const subject = { kind: "member", id: alice } as const;
      const query = {
        subject,
        permission: "compute.instances.start",
        resource: inWeb,
        now,
        conditionContext: {},
        counted: "all" as const,
      };
      apply("Member", alice, aliceRow, { ...aliceRow, state: "SUSPENDED" });
      const explanation = runSteps(
        explainInSteps(snapshot, query, { maxRoles: 1, maxGrantors: 5, contextOf: () => ({}) }),
      );
      return explanation.allowed ? undefined : explanation.grantors;
    };
    give(1, first, binder);
    expect(grantors()).toEqual([]);
    give(2, first, operator);
    expect(grantors()).toEqual([first]);
    give(3, last, unbound);
    expect(grantors()).toEqual([first, last]);
  });
});

test("a large purged group has no effect immediately, and is swept with later changes", () => {
  const [crowd, count] = [idOf(4, 1), 5000];
  const member = (number: number) => ({ ...aliceRow, id: idOf(3, number + 10), name: `member-${number}` });
  const everyone = Array.from({ length: count }, (_, number) => member(number));
  loadRows(snapshot, {
    members: everyone,
    groups: [{ id: crowd, name: "crowd" }],
    group_members: everyone.map(({ id }) => ({ group_id: crowd, member_id: id, expire_time: null })),
    role_bindings: [{ ...bindingRow, id: idOf(8, 1), subject_id: crowd }],
  });
  const list = (): readonly string[] =>
    runSteps(
      listSubjects(snapshot, {
        permission: "compute.instances.start",
        resource: inWeb,
        now,
        contextOf: () => ({}),
        limit: Infinity,
      }),
    ).ids;
  expect(list().length).toBe(count + 1);
  const { bytes } = snapshot;
  for (let round = 0; round < 3; round++) {
    apply("Group", crowd, { id: crowd, name: "crowd" }, null);
    expect(list()).toEqual([alice]);
    // Its name and id can be reused while most of its memberships are not swept yet.
    apply("Group", crowd, null, { id: crowd, name: "crowd" }, 0);
    expect(list()).toEqual([alice]);
    for (let change = 0; change < 6; change++) apply("Member", alice, aliceRow, aliceRow);
    for (const { id } of everyone)
      apply("GroupMember", id, null, { group_id: crowd, member_id: id, expire_time: null });
    apply("RoleBinding", idOf(8, 1), null, { ...bindingRow, id: idOf(8, 1), subject_id: crowd });
    expect(list().length).toBe(count + 1);
  }
  expect(snapshot.bytes).toBeLessThan(bytes * 1.05);
});

test("rows that refer to unknown resources are ignored", () => {
  const unknown = idOf(9);
  apply("GroupMember", unknown, null, { ...membership, member_id: unknown });
  apply("GroupMember", unknown, { ...membership, group_id: unknown }, null);
  apply("Subgroup", unknown, null, { ...nesting, subgroup_id: unknown });
  apply("Subgroup", unknown, { ...nesting, group_id: unknown }, null);
  const bindings = [
    { subject_id: unknown },
    { scope_id: unknown },
    { scope_type: "org" as const, scope_id: unknown },
    { role_id: null, predefined_role: "none" },
  ];
  bindings.forEach((change, number) =>
    apply("RoleBinding", idOf(8, number + 1), null, { ...bindingRow, id: idOf(8, number + 1), ...change }),
  );
  for (const type of ["Member", "Group", "Project", "Role", "RoleBinding"]) apply(type, unknown, {}, null);
  expect(may()).toBe(true);
  expect(may({ kind: "org", customerId: customer, orgId: org })).toBe(false);
});

test("changes of other resources have no effect", () => {
  apply("ApiKey", alice, aliceRow, null);
  expect(may()).toBe(true);
});

test("a snapshot remembers a bounded number of the revisions that it has reached", () => {
  for (let revision = 8; revision <= 106; revision++) snapshot.advanceTo(String(revision));
  expect(snapshot.revision).toBe("106");
  expect(["7", "106", "107"].map(snapshot.hasReached)).toEqual([true, true, false]);
  snapshot.advanceTo("107");
  expect(["7", "8", "107"].map(snapshot.hasReached)).toEqual([false, true, true]);
});

test.each<[scope: RoleBindingRow["scope_type"], id: string | null, holds: readonly boolean[]]>([
  ["platform", null, [true, true, true, true, true]],
  ["customer", customer, [true, true, true, true, false]],
  ["org", org, [true, true, false, false, false]],
  ["project", web, [true, false, false, false, false]],
])("a binding on the %s applies there and below", (scope, id, holds) => {
  apply("RoleBinding", binding, bindingRow, { ...bindingRow, scope_type: scope, scope_id: id });
  const resources: TargetScope[] = [
    inWeb,
    { kind: "org", customerId: customer, orgId: org },
    { kind: "org", customerId: customer, orgId: idOf(1, 1) },
    { kind: "customer", customerId: customer },
    { kind: "platform" },
  ];
  expect(resources.map((resource) => may(resource))).toEqual(holds);
});

test("deleting one of two nestings has an effect, also after a decision that used it", () => {
  const other = idOf(4, 1);
  apply("Group", other, null, { id: other, name: "other" });
  apply("Subgroup", staff, null, { group_id: other, subgroup_id: staff });
  expect(may()).toBe(true);
  apply("Subgroup", staff, nesting, null);
  expect(may()).toBe(false);
});

test("a member of many groups has exactly their permissions if few bindings exist on the scope", () => {
  const groups = Array.from({ length: 60 }, (_, number) => ({ id: idOf(4, number + 1), name: `group-${number}` }));
  const [mine, others] = [groups.slice(0, 50), groups.slice(50)];
  apply("RoleBinding", binding, bindingRow, null);
  loadRows(snapshot, {
    groups,
    group_members: mine.map(({ id }) => ({ ...membership, group_id: id })),
    role_bindings: others
      .slice(0, 3)
      .map(({ id }, number) => ({ ...bindingRow, id: idOf(8, number + 1), subject_id: id })),
  });
  expect(may()).toBe(false);
  apply("RoleBinding", binding, null, { ...bindingRow, subject_id: mine[49]?.id });
  expect(may()).toBe(true);
  const later = idOf(8, 9);
  apply("RoleBinding", later, null, { ...bindingRow, id: later, subject_id: others[3]?.id });
  expect(may()).toBe(true);
  apply("RoleBinding", later, { ...bindingRow, id: later }, null);
  apply("RoleBinding", binding, null, { ...bindingRow, subject_type: "member", subject_id: idOf(9) });
  const carol = idOf(3, 1);
  apply("Member", carol, null, { ...aliceRow, id: carol, name: "carol" });
  apply("RoleBinding", binding, null, { ...bindingRow, subject_type: "member", subject_id: carol });
  expect(may()).toBe(false);
  apply("RoleBinding", binding, null, { ...bindingRow, subject_type: "member", subject_id: alice });
  expect(may()).toBe(true);
});

test("of two paths of the same length, the same one is reported, whatever the order of changes", () => {
  const [one, other] = [idOf(4, 1), idOf(4, 2)];
  apply("RoleBinding", binding, bindingRow, { ...bindingRow, subject_id: all });
  apply("GroupMember", alice, membership, null);
  const query = {
    subject: { kind: "member", id: alice } as const,
    permission: "compute.instances.start",
    resource: inWeb,
    now,
    conditionContext: {},
    counted: "all" as const,
  };
  for (const id of [one, other]) apply("Group", id, null, { id, name: `group-${id.slice(-1)}` });
  for (const ids of [
    [one, other],
    [other, one],
  ]) {
    for (const id of ids) apply("GroupMember", alice, null, { ...membership, group_id: id });
    for (const id of ids) apply("Subgroup", id, null, { group_id: all, subgroup_id: id });
    expect(
      runSteps(explainInSteps(snapshot, query, { maxRoles: 1, maxGrantors: 1, contextOf: () => ({}) })),
    ).toMatchObject({
      groups: [one, all],
    });
    for (const id of ids) apply("GroupMember", alice, { ...membership, group_id: id }, null);
  }
});

test("a deleted role that can be undeleted grants nothing", () => {
  const deleted = { ...operatorRow, delete_time: deleteTime };
  apply("Role", operator, operatorRow, deleted);
  expect(may()).toBe(false);
  apply("Role", operator, deleted, operatorRow);
  expect(may()).toBe(true);
});

test("creating and removing resources does not leak memory", () => {
  const round = (number: number): void => {
    const [project, id] = [{ ...webRow, id: idOf(6, number), name: `project-${number}` }, idOf(8, number)];
    const condition = `condition ${number}`;
    apply("Project", project.id, null, project);
    apply("RoleBinding", id, null, { ...bindingRow, id, scope_id: project.id, condition });
    apply("RoleBinding", id, null, { ...bindingRow, id, scope_id: project.id, condition: `${condition} again` });
    apply("Project", project.id, project, null);
  };
  for (let number = 1; number < 50; number++) round(number);
  const { bytes } = snapshot;
  for (let number = 50; number < 5000; number++) round(number);
  expect(snapshot.bytes).toBe(bytes);
});
