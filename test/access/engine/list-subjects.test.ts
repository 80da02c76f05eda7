// Tests how many conditions are evaluated to list who has a permission, and where a page ends before it is full.
import { beforeEach, expect, test } from "vitest";
import {
  type DecidingBound,
  type SubjectsPage,
  type SubjectsQuery,
  listSubjects,
} from "../../../src/access/engine/decisions/list-subjects.ts";
import { listGrantorsInSteps } from "../../../src/access/engine/decisions/list-grantors.ts";
import { loadRows } from "../../../src/access/engine/loading/load-rows.ts";
import type { RoleBindingRow } from "../../../src/access/engine/loading/rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../../src/access/engine/org-snapshot.ts";
import { runSteps } from "../../../src/scheduling/steps.ts";

const [permission, now] = ["compute.instances.start", 0];
const idOf = (kind: number, number = 0): string => `0000000${kind}-0000-7000-8000-${String(number).padStart(12, "0")}`;
const [org, customer, operator] = [idOf(1), idOf(2), idOf(3)];
const resource = { kind: "org", customerId: customer, orgId: org } as const;
const memberOf = (number: number): string => idOf(5, number);
const membersBefore = (end: number): string[] => Array.from({ length: end }, (_, number) => memberOf(number));

let snapshot: OrgSnapshot;
let evaluations: string[];
let asked: (number | undefined)[];

beforeEach(() => {
  [evaluations, asked] = [[], []];
  const state = { state: "ACTIVE", delete_time: null } as const;
  snapshot = createOrgSnapshot({
    org: { id: org, name: "acme", customer_id: customer, ...state, revision: "7" },
    predefinedRoles: {},
    // A condition holds if it says so, or for the members whose ids end as it does.
    compileCondition: (expression) =>
      Object.assign(
        (member: unknown) => {
          evaluations.push(expression);
          return expression.startsWith("yes") || (typeof member === "string" && member.endsWith(expression.slice(-1)));
        },
        { isForAll: !expression.startsWith("subject") },
      ),
  });
  loadRows(snapshot, { roles: [{ id: operator, name: "operator", permissions: [permission] }] });
});

function bindingOf(number: number, type: "member" | "group", subjectId: string, condition: string): RoleBindingRow {
  return {
    id: idOf(6, number),
    scope_type: "org",
    scope_id: org,
    subject_type: type,
    subject_id: subjectId,
    role_id: operator,
    predefined_role: null,
    start_time: null,
    expire_time: null,
    condition,
  };
}

/** Creates groups, each with all the members and with bindings under these conditions. */
function place(memberCount: number, conditionsOfGroups: readonly (readonly string[])[]): void {
  const groupOf = (number: number): string => idOf(4, number);
  const members = membersBefore(memberCount);
  loadRows(snapshot, {
    members: members.map((id, number) => ({ id, name: `m-${number}`, state: "ACTIVE" })),
    groups: conditionsOfGroups.map((_, number) => ({ id: groupOf(number), name: `g-${number}` })),
    group_members: conditionsOfGroups.flatMap((_, number) =>
      members.map((id) => ({ group_id: groupOf(number), member_id: id, expire_time: null })),
    ),
    role_bindings: conditionsOfGroups.flatMap((conditions, number) =>
      conditions.map((condition, index) => bindingOf(number * 1000 + index, "group", groupOf(number), condition)),
    ),
  });
}

function list(more: Partial<SubjectsQuery> = {}): SubjectsPage {
  const contextOf = (member: number | undefined) => {
    asked.push(member);
    return member === undefined ? undefined : snapshot.members.idOf(member);
  };
  return runSteps(listSubjects(snapshot, { permission, resource, now, contextOf, limit: 1000, ...more }));
}

const numbered = (what: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${what} ${n} x`);

test("a condition that does not read the subject is evaluated once, however many members and bindings have it", () => {
  const conditions = numbered("no", 20);
  place(300, [conditions, conditions, [...conditions, "no other x"]]);
  expect(list()).toMatchObject({ ids: [], endsAfter: undefined });
  expect(evaluations.toSorted()).toEqual([...conditions, "no other x"].toSorted());
  expect(asked.every((member) => member === undefined)).toBe(true);
});

test("conditions are not evaluated where they add nobody", () => {
  place(300, [["yes", "yes, too"], ["subject 1"]]);
  const gone = idOf(4, 9);
  loadRows(snapshot, {
    groups: [{ id: gone, name: "gone", delete_time: new Date(0) }],
    role_bindings: [
      bindingOf(5000, "group", gone, "no, of a group that is deleted"),
      bindingOf(5001, "member", memberOf(1), "no, of a member that is listed"),
      bindingOf(5002, "member", memberOf(1), ""),
    ],
  });
  expect(list().ids).toEqual(membersBefore(300));
  expect(evaluations).toHaveLength(1);
  // On a page after all of them, there is nobody to add.
  loadRows(snapshot, { role_bindings: [bindingOf(5003, "member", memberOf(2), "no, of a member before the page")] });
  expect(list({ after: memberOf(299) }).ids).toEqual([]);
  expect(evaluations).toHaveLength(2);
});

test("conditions that read the subject have one input for each member", () => {
  place(30, [
    ["subject a 1", "subject b 2"],
    ["subject a 1", "no x"],
  ]);
  expect(list().ids.map((id) => id.slice(-2))).toEqual(["01", "02", "11", "12", "21", "22"]);
  const members = asked.filter((member) => member !== undefined);
  expect(members).toHaveLength(30);
  expect(new Set(members).size).toBe(30);
});

test("a page ends before a member about whom it cannot decide any more, and the next one begins there", () => {
  place(30, [["subject 1", "subject 2"]]);
  const tooMuch = new Error("too much");
  let left = 0;
  const bound: DecidingBound = { isOver: () => false, isExceededBy: (error) => error === tooMuch };
  const contextOf = (member: number | undefined) => {
    if (left-- === 0) throw tooMuch;
    return snapshot.members.idOf(member ?? 0);
  };
  const page = (budget: number, after?: string, within: DecidingBound | undefined = bound) => {
    left = budget;
    return list({ contextOf, bound: within, after });
  };
  expect(page(12)).toMatchObject({ ids: [1, 2, 11].map(memberOf), endsAfter: memberOf(11) });
  expect(page(12, memberOf(11))).toMatchObject({ ids: [12, 21, 22].map(memberOf), endsAfter: memberOf(23) });
  expect(page(12, memberOf(23))).toMatchObject({ ids: [], endsAfter: undefined });
  // Not even one.
  expect(() => page(0)).toThrow(tooMuch);
  expect(() => page(12, undefined, { ...bound, isExceededBy: () => false })).toThrow(tooMuch);
});

test("a page that ends early has those before its end only, whatever grants them the permission", () => {
  place(30, [["subject 1"]]);
  loadRows(snapshot, {
    role_bindings: [3, 20].map((number) => bindingOf(5000 + number, "member", memberOf(number), "")),
  });
  const until = (count: number): DecidingBound => ({ isOver: () => asked.length === count, isExceededBy: () => false });
  expect(list({ bound: until(10) })).toEqual({
    ids: [1, 3].map(memberOf),
    endsAfter: memberOf(10),
    undoubted: [memberOf(20)],
  });
});

test("a page decides about 2000 members at most", () => {
  place(2001, [["subject 1"]]);
  expect(list().endsAfter).toBe(memberOf(1999));
  expect(asked).toHaveLength(2000);
  expect(list({ after: memberOf(1999) })).toMatchObject({ ids: [], endsAfter: undefined });
  // One that is full before ends as any other.
  expect(list({ limit: 2 })).toMatchObject({ ids: [1, 11].map(memberOf), endsAfter: undefined });
});

test("conditions that are not compiled within the time are compiled when the list is asked for again", () => {
  place(3, [numbered("subject", 5), numbered("no", 5)]);
  const attempt = (compilations: number): SubjectsPage => {
    let calls = 0;
    return list({ bound: { isOver: () => calls++ >= compilations, isExceededBy: () => false } });
  };
  for (let compiled = 1; compiled < 10; compiled += 3) {
    expect(attempt(3)).toMatchObject({ ids: [], isUnfinished: true });
  }
  expect(attempt(3)).toEqual({ ids: [], endsAfter: undefined, undoubted: [] });
});

test("those who can grant a role are found after more members than a page decides about", () => {
  place(2001, [["subject, of nobody"]]);
  const [binder, owner] = [idOf(3, 1), memberOf(2000)];
  const permissions = ["iam.roleBindings.create"];
  loadRows(snapshot, {
    roles: [operator, binder].map((id) => ({ id, name: id, permissions: [permission, ...permissions] })),
    role_bindings: [{ ...bindingOf(5000, "member", owner, ""), role_id: binder }],
  });
  const role = snapshot.roles.having(snapshot.roles.permissions.find(permission))[0] ?? 0;
  const query = { role, resource, now, limit: 3, contextOf: () => undefined };
  expect(runSteps(listGrantorsInSteps(snapshot, query))).toEqual([owner]);
});

test("where more is needed than a binding, it alone is decided, once for each member", () => {
  place(30, [["yes"], ["no x"], ["subject 1", ""]]);
  const decided: string[] = [];
  const decides = (id: string) => decided.push(id) > 0 && id.endsWith("5");
  expect(list({ decides })).toMatchObject({ ids: [5, 15, 25].map(memberOf), endsAfter: undefined });
  expect(decided).toEqual(membersBefore(30));
  expect(evaluations).toEqual([]);
});
