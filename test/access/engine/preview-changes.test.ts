import fc from "fast-check";
import { expect, test } from "vitest";
import { type SnapshotChange, applyChange } from "../../../src/access/engine/apply-change.ts";
import { decide } from "../../../src/access/engine/decide.ts";
import { loadRows } from "../../../src/access/engine/load-rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../../src/access/engine/org-snapshot.ts";
import { type Preview, type PreviewQuestion, previewChanges } from "../../../src/access/engine/preview-changes.ts";
import type { Resource } from "../../../src/access/engine/resource.ts";
import { type Draw, arbitraryNoise, createDraw } from "../../rest/fuzz/draw.ts";
import { fuzzParameters, fuzzTimeout } from "../../rest/json/fuzz-parameters.ts";
import { createChangeMaker, emptyRows, lastTime, otherCustomer, permissions } from "./draw-changes.ts";
import { type ModelRows, compileCondition, isDeleted, naiveDecide, predefinedRoles, projectOf } from "./naive-model.ts";

const parameters = fuzzParameters(1500);

/** Stands for the permissions that no role names. */
const unnamed = "nobody.names.this";

const previewed = new Set(["RoleBinding", "GroupMember", "Subgroup", "Group", "Role"]);

test("tells what a comparison of everything before and after tells", { timeout: fuzzTimeout(parameters) }, () => {
  const seen = { gained: 0, lost: 0, conditional: 0, nothing: 0 };
  const property = fc.property(fc.noBias(arbitraryNoise(1200)), (noise) => {
    const draw = createDraw(noise);
    const rows = emptyRows();
    const maker = createChangeMaker(rows);
    const moved = createOrgSnapshot({ org: rows.org, predefinedRoles, compileCondition });
    for (let left = 40; left > 0; left--) {
      const change = maker.next(draw);
      if (change !== undefined) applyChange(moved, change);
    }
    for (let round = 0; round < 8; round++) {
      const before = structuredClone(rows);
      const changes = Array.from({ length: draw(3) === 1 ? 1 + draw(3) : 1 }, () => maker.next(draw)).filter(
        (change) => change !== undefined,
      );
      const kinds = [...new Set(changes.map(({ resource_type: type }) => type))];
      // As those of a call are.
      if (kinds.length === 1 && previewed.has(kinds[0] ?? "")) {
        const lines = changes.map((change) => withBefore(change, before));
        checkPreview(moved, before, rows, lines, draw(lastTime + 1));
        checkSame(moved, before, draw);
      }
      for (const change of changes) applyChange(moved, change);
    }
  });
  fc.assert(property, parameters);
  // Changes that change nothing would be no proof.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(parameters.numRuns / 20);

  function checkPreview(
    snapshot: OrgSnapshot,
    before: ModelRows,
    after: ModelRows,
    changes: readonly SnapshotChange[],
    now: number,
  ): void {
    const preview = run(snapshot, { changes, now });
    const expected = naiveDifferences(before, after, now);
    const told = new Map(
      preview.differences.map((each) => [keyOf(each.memberId, each.resource, each.isConditional), each]),
    );
    expect(told.size).toBe(preview.count);
    for (const [key, { gained, lost }] of told) {
      expect({ key, gained, lost }).toEqual({ key, ...expected.get(key)?.delta });
    }
    // What is not told of a resource is told of what it is in.
    for (const { memberId, resource, delta } of expected.values()) {
      const around = [resource, ...above(resource)].flatMap((each) =>
        [true, false].flatMap((isConditional) => told.get(keyOf(memberId, each, isConditional)) ?? []),
      );
      for (const permission of delta.gained) expect(around.flatMap(({ gained }) => gained)).toContain(permission);
      for (const permission of delta.lost) expect(around.flatMap(({ lost }) => lost)).toContain(permission);
    }
    const membersWith = (side: "gained" | "lost") =>
      new Set(preview.differences.filter((each) => each[side].length > 0).map(({ memberId }) => memberId)).size;
    expect(preview).toMatchObject({
      isWhole: true,
      gainingMembers: membersWith("gained"),
      losingMembers: membersWith("lost"),
    });
    expect(run(snapshot, { changes, now, limit: 2 })).toEqual({
      ...preview,
      differences: preview.differences.slice(0, 2),
    });
    if (preview.gainingMembers > 0) seen.gained++;
    if (preview.losingMembers > 0) seen.lost++;
    if (preview.differences.some(({ isConditional }) => isConditional)) seen.conditional++;
    if (preview.count === 0) seen.nothing++;
  }
});

test("counts and tells nothing of what is not shown", () => {
  const { snapshot, bindTo } = smallOrg();
  const changes = [bindTo("project"), bindTo("org")];
  const all = run(snapshot, { changes });
  const ofProjects = run(snapshot, { changes, isShown: ({ kind }) => kind === "project" });
  expect(all.differences.map(({ resource }) => resource.kind).toSorted()).toEqual(["org", "org", "project", "project"]);
  expect(ofProjects).toEqual({
    ...all,
    count: 2,
    differences: all.differences.filter(({ resource }) => resource.kind === "project"),
  });
});

test("stops at the number of pairs that it may look at, and says so", () => {
  const { snapshot, bindTo } = smallOrg();
  expect(run(snapshot, { changes: [bindTo("org")], maxPairs: 1 })).toMatchObject({
    gainingMembers: 1,
    count: 1,
    isWhole: false,
  });
});

test("leaves the snapshot as it was between its steps", () => {
  const { snapshot, rows, bindTo } = smallOrg(5000);
  const [member] = rows.members;
  const question = {
    subject: { kind: "member", id: member?.id ?? "" },
    permission: "iam.members.get",
    resource: { kind: "org", customerId: rows.org.customer_id, orgId: rows.org.id },
    now: 0,
    conditionContext: undefined,
  } as const;
  const steps = previewChanges(snapshot, { ...defaults, changes: [bindTo("org")] });
  let taken = 0;
  for (let step = steps.next(); step.done !== true; step = steps.next()) {
    expect(decide(snapshot, question)).toBe(false);
    taken++;
  }
  expect(taken).toBeGreaterThan(3);
});

const defaults: Omit<PreviewQuestion, "changes"> = {
  now: 0,
  isShown: () => true,
  permissions: [...permissions, "iam.orgs.delete"],
  limit: Infinity,
  maxPairs: Infinity,
};

function run(snapshot: OrgSnapshot, question: Partial<PreviewQuestion> & Pick<PreviewQuestion, "changes">): Preview {
  const steps = previewChanges(snapshot, { ...defaults, ...question });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The log need not say what an expired membership was before it was replaced; a preview is never of such a line. */
function withBefore(change: SnapshotChange, rows: ModelRows): SnapshotChange {
  const { resource_type: type, after } = change;
  if (type !== "GroupMember" || change.before !== null) return change;
  const { group_id: group, member_id: member } = after as ModelRows["group_members"][number];
  const before = rows.group_members.find((row) => row.group_id === group && row.member_id === member);
  return { ...change, before: before ?? null };
}

/** Rebuilt from its rows, a snapshot answers the same as the one that a preview has gone over. */
function checkSame(snapshot: OrgSnapshot, rows: ModelRows, draw: Draw): void {
  for (const resource of resourcesOf(rows)) {
    const question = { permission: permissions[draw(permissions.length)] ?? "", resource, now: draw(lastTime + 1) };
    for (const { id } of rows.members) {
      const asked = { subject: { kind: "member", id } as const, conditionContext: { resource, subject: id } };
      const expected = naiveDecide(rows, { ...question, kind: "member", id });
      expect(decide(snapshot, { ...question, ...asked })).toBe(expected);
    }
  }
}

function resourcesOf(rows: ModelRows): Resource[] {
  const { id: orgId, customer_id: customerId } = rows.org;
  return [
    { kind: "platform" },
    { kind: "customer", customerId },
    { kind: "customer", customerId: otherCustomer },
    { kind: "org", customerId, orgId },
    ...rows.projects.filter((row) => !isDeleted(row)).map(({ id }) => projectOf(rows, id)),
  ];
}

function above(resource: Resource): Resource[] {
  if (resource.kind === "platform") return [];
  if (resource.kind === "customer") return [{ kind: "platform" }];
  const { customerId, orgId } = resource;
  const aboveOrg: Resource[] = [{ kind: "customer", customerId }, { kind: "platform" }];
  return resource.kind === "org" ? aboveOrg : [{ kind: "org", customerId, orgId }, ...aboveOrg];
}

function keyOf(memberId: string, resource: Resource, isConditional: boolean): string {
  const ids = "customerId" in resource ? Object.values({ projectId: "", orgId: "", ...resource }) : [];
  return [memberId, resource.kind, ...ids.toSorted((one, other) => (one < other ? -1 : 1)), isConditional].join(" ");
}

interface NaiveDifference {
  readonly memberId: string;
  readonly resource: Resource;
  readonly delta: { readonly gained: string[]; readonly lost: string[] };
}

/** Asks about every member, resource and permission, before and after, without conditions and as if they all held. */
function naiveDifferences(before: ModelRows, after: ModelRows, now: number): Map<string, NaiveDifference> {
  const found = new Map<string, NaiveDifference>();
  const levels = [before, after].map((rows) => {
    const always = { ...rows, role_bindings: rows.role_bindings.filter(({ condition }) => condition === "") };
    const atMost = { ...rows, role_bindings: rows.role_bindings.map((row) => ({ ...row, condition: "" })) };
    return (memberId: string, permission: string, resource: Resource): number => {
      const question = { kind: "member", id: memberId, permission, resource, now } as const;
      return Number(naiveDecide(always, question)) + Number(naiveDecide(atMost, question));
    };
  });
  const all = new Set([...defaults.permissions, unnamed]);
  for (const { id: memberId } of before.members) {
    for (const resource of resourcesOf(before)) {
      for (const isConditional of [false, true]) {
        const delta = { gained: [] as string[], lost: [] as string[] };
        for (const permission of all) {
          const [from, to] = levels.map((levelOf) => levelOf(memberId, permission, resource)) as [number, number];
          const isFull = Math.abs(from - to) === 2;
          if (from === to || isFull === isConditional) continue;
          delta[from < to ? "gained" : "lost"].push(permission === unnamed ? "*" : permission);
        }
        if (delta.gained.length + delta.lost.length === 0) continue;
        delta.gained.sort();
        delta.lost.sort();
        found.set(keyOf(memberId, resource, isConditional), { memberId, resource, delta });
      }
    }
  }
  return found;
}

/** Members in a group that is bound nowhere, and a project. */
function smallOrg(size = 2) {
  const id = (kind: number, number: number): string =>
    `00000000-0000-7000-8${kind}00-${number.toString(16).padStart(12, "0")}`;
  const rows = emptyRows();
  for (let number = 0; number < size; number++) {
    rows.members.push({ id: id(1, number), name: `m-${number}`, state: "ACTIVE", delete_time: null });
    rows.group_members.push({ group_id: id(2, 0), member_id: id(1, number), expire_time: null });
  }
  rows.groups.push({ id: id(2, 0), name: "all" });
  rows.projects.push({ id: id(3, 0), name: "web", state: "ACTIVE", delete_time: null });
  const snapshot = createOrgSnapshot({ org: rows.org, predefinedRoles, compileCondition });
  loadRows(snapshot, rows);
  const bindTo = (scope: "org" | "project"): SnapshotChange => ({
    resource_type: "RoleBinding",
    resource_id: id(4, scope === "org" ? 0 : 1),
    before: null,
    after: {
      id: id(4, scope === "org" ? 0 : 1),
      scope_type: scope,
      scope_id: scope === "org" ? rows.org.id : id(3, 0),
      subject_type: "group",
      subject_id: id(2, 0),
      role_id: null,
      predefined_role: scope === "org" ? "viewer" : "owner",
      start_time: null,
      expire_time: null,
      condition: "",
    },
  });
  return { snapshot, rows, bindTo };
}
