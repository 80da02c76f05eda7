import fc from "fast-check";
import { expect, test } from "vitest";
import { type LogEntry, applyEntry } from "../../../src/access/engine/loading/apply-entry.ts";
import { decide } from "../../../src/access/engine/decisions/decide.ts";
import { loadRows } from "../../../src/access/engine/loading/load-rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../../src/access/engine/org-snapshot.ts";
import {
  type Preview,
  type PreviewQuery,
  previewChanges,
} from "../../../src/access/engine/decisions/preview-changes.ts";
import type { TargetScope } from "../../../src/access/engine/decisions/target-scope.ts";
import { type Draw, arbitraryNoise, createDraw } from "../../rest/fuzz/draw.ts";
import { fuzzParameters, fuzzTimeout } from "../../support/fuzz-parameters.ts";
import { createChangeMaker, emptyRows, lastTime, otherCustomer, permissions, services } from "./draw-changes.ts";
import {
  type ModelRows,
  compileCondition,
  isDeleted,
  naiveDecide,
  predefinedRoles,
  projectOf,
  unnamed,
} from "./naive-model.ts";

const parameters = fuzzParameters(25);

const previewed = new Set(["RoleBinding", "GroupMember", "Subgroup", "Group", "Role"]);

test(
  "agrees with a comparison of all decisions before and after the changes",
  { timeout: fuzzTimeout(parameters) },
  () => {
    const seen = { gained: 0, lost: 0, conditional: 0, nothing: 0, batches: 0 };
    const property = fc.property(fc.noBias(arbitraryNoise(1200)), (noise) => {
      const draw = createDraw(noise);
      const rows = emptyRows();
      const maker = createChangeMaker(rows);
      const moved = createOrgSnapshot({ org: rows.org, predefinedRoles, compileCondition });
      for (let left = 40; left > 0; left--) {
        const change = maker.next(draw);
        if (change !== undefined) applyEntry(moved, change);
      }
      moved.advanceTo(moved.revision);
      for (let round = 0; round < 8; round++) {
        const before = structuredClone(rows);
        const changes = drawAlike(draw, rows, maker);
        if (previewed.has(changes[0]?.resource_type ?? "")) {
          const lines = changes.map((change) => withBefore(change, before));
          if (changes.length > 1) seen.batches++;
          checkPreview(moved, before, rows, lines, draw);
          checkSame(moved, before, draw);
        }
        for (const change of changes) applyEntry(moved, change);
        moved.advanceTo(moved.revision);
      }
    });
    fc.assert(property, parameters);
    // Changes without effect would make a weak test. By chance, a short run may have few others.
    if (parameters.numRuns < 1_000) return;
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(parameters.numRuns / 20);

    function checkPreview(
      snapshot: OrgSnapshot,
      before: ModelRows,
      after: ModelRows,
      changes: readonly LogEntry[],
      draw: Draw,
    ): void {
      const [now, later] = [draw(lastTime), 1 + draw(lastTime)];
      const times: [number, ...number[]] = later > now ? [now, later] : [now];
      const isStepOver = () => draw(3) === 1;
      const preview = run(snapshot, { changes, times, isStepOver });
      const expected = naiveDifferences(before, after, times);
      const told = new Map(
        preview.differences.map((each) => [keyOf(each.memberId, each.resource, each.isConditional), each]),
      );
      expect(told.size).toBe(preview.count);
      for (const [key, { gained, lost }] of told) {
        expect({ key, gained, lost }).toEqual({ key, ...expected.get(key)?.delta });
      }
      // A difference can be listed on a resource above instead.
      for (const { memberId, resource, delta } of expected.values()) {
        const around = [resource, ...above(resource)].flatMap((each) =>
          [true, false].flatMap((isConditional) => told.get(keyOf(memberId, each, isConditional)) ?? []),
        );
        const [gained, lost] = [around.flatMap((each) => each.gained), around.flatMap((each) => each.lost)];
        for (const permission of delta.gained) expectTold(gained, permission);
        for (const permission of delta.lost) expectTold(lost, permission);
      }
      const membersWith = (side: "gained" | "lost") =>
        new Set(preview.differences.filter((each) => each[side].length > 0).map(({ memberId }) => memberId)).size;
      expect(preview).toMatchObject({
        isWhole: true,
        gainingMembers: membersWith("gained"),
        losingMembers: membersWith("lost"),
      });
      expect(run(snapshot, { changes, times, isStepOver, limit: 2 })).toEqual({
        ...preview,
        differences: preview.differences.slice(0, 2),
      });
      if (preview.gainingMembers > 0) seen.gained++;
      if (preview.losingMembers > 0) seen.lost++;
      if (preview.differences.some(({ isConditional }) => isConditional)) seen.conditional++;
      if (preview.count === 0) seen.nothing++;
    }
  },
);

test("neither counts nor lists resources that are not shown", () => {
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

test("stops on request, and reports that it is incomplete", () => {
  const { snapshot, bindTo } = smallOrg();
  const previewOf = (allowed: number): Preview => {
    const steps = previewChanges(snapshot, { ...defaults, changes: [bindTo("org")], isStepOver: () => true });
    let step = steps.next(true);
    for (let taken = 0; step.done !== true; taken++) step = steps.next(taken < allowed);
    return step.value;
  };
  const previews = Array.from({ length: 6 }, (_, allowed) => previewOf(allowed));
  // The first steps search for the members; each of the others compares one.
  expect(previews.map(({ count }) => count)).toEqual([1, 1, 1, 1, 2, 2]);
  expect(previews.map(({ isWhole }) => isWhole)).toEqual([false, false, false, false, false, true]);
});

test("fails if the snapshot advances to another revision", () => {
  const { snapshot, bindTo } = smallOrg();
  const steps = previewChanges(snapshot, { ...defaults, changes: [bindTo("org")], isStepOver: () => true });
  steps.next(true);
  snapshot.advanceTo("2");
  expect(() => {
    for (let left = 10; left > 0; left--) steps.next(true);
  }).toThrow("the snapshot is at revision 2, not 1");
  expect(() => run(snapshot, { changes: [bindTo("org")] })).toThrow("the snapshot is at revision 2, not 1");
});

test("lists a changed condition, and permissions that depend on fewer conditions", () => {
  const { snapshot, bindTo } = smallOrg(1);
  const [before, after] = [bindTo("org", "no"), bindTo("org", "yes")];
  applyEntry(snapshot, before);
  snapshot.advanceTo(snapshot.revision);
  const told = (change: LogEntry) =>
    run(snapshot, { changes: [change] }).differences.map(({ gained, lost, isConditional }) => ({
      gained,
      lost,
      isConditional,
    }));
  const both = { gained: ["iam.members.get"], lost: ["iam.members.get"], isConditional: true };
  expect(told({ ...after, before: before.after })).toEqual([both]);
  expect(told({ ...before, before: before.after, after: null })).toEqual([{ ...both, gained: [] }]);
  expect(told({ ...bindTo("org"), before: before.after })).toEqual([{ ...both, lost: [] }]);
});

test("restores the snapshot after each step", () => {
  const { snapshot, rows, bindTo } = smallOrg(5000);
  const [member] = rows.members;
  const query = {
    subject: { kind: "member", id: member?.id ?? "" },
    permission: "iam.members.get",
    resource: { kind: "org", customerId: rows.org.customer_id, orgId: rows.org.id },
    now: 0,
    conditionContext: undefined,
    counted: "all",
  } as const;
  let asked = 0;
  const isStepOver = () => ++asked % 1000 === 0;
  const steps = previewChanges(snapshot, { ...defaults, changes: [bindTo("org")], isStepOver });
  let taken = 0;
  for (let step = steps.next(true); step.done !== true; step = steps.next(true)) {
    expect(decide(snapshot, query)).toBe(false);
    taken++;
  }
  expect(taken).toBeGreaterThan(3);
});

const defaults: Omit<PreviewQuery, "changes"> = {
  revision: "1",
  times: [0],
  isShown: () => true,
  // Also one that only `admin` lists, and one that no role lists.
  permissions: [...permissions, "iam.orgs.get", "iam.orgs.delete"],
  limit: Infinity,
  isStepOver: () => false,
};

function run(snapshot: OrgSnapshot, query: Partial<PreviewQuery> & Pick<PreviewQuery, "changes">): Preview {
  const steps = previewChanges(snapshot, { ...defaults, ...query });
  for (;;) {
    const step = steps.next(true);
    if (step.done === true) return step.value;
  }
}

/** Draws a few changes of the same resource type, as in a batch. */
function drawAlike(draw: Draw, rows: ModelRows, maker: ReturnType<typeof createChangeMaker>): LogEntry[] {
  const changes: LogEntry[] = [];
  const wanted = draw(2) === 1 ? 2 + draw(3) : 1;
  for (let tries = 0; tries < 30 && changes.length < wanted; tries++) {
    const undone = structuredClone(rows);
    const change = maker.next(draw);
    if (change !== undefined && (changes[0] ?? change).resource_type === change.resource_type) changes.push(change);
    else Object.assign(rows, undone);
  }
  return changes;
}

/** Adds the previous row of an expired membership that is created again. The change log omits it, so that a dry run could not restore it. */
function withBefore(change: LogEntry, rows: ModelRows): LogEntry {
  const { resource_type: type, after } = change;
  if (type !== "GroupMember" || change.before !== null) return change;
  const { group_id: group, member_id: member } = after as ModelRows["group_members"][number];
  const before = rows.group_members.find((row) => row.group_id === group && row.member_id === member);
  return { ...change, before: before ?? null };
}

/** Checks that a snapshot decides like the model after a preview was computed on it. */
function checkSame(snapshot: OrgSnapshot, rows: ModelRows, draw: Draw): void {
  for (const resource of resourcesOf(rows)) {
    const permission = permissions[draw(permissions.length)] ?? "";
    const query = { permission, resource, now: draw(lastTime + 1), counted: "all" } as const;
    for (const { id } of rows.members) {
      const asked = { subject: { kind: "member", id } as const, conditionContext: { resource, subject: id } };
      const expected = naiveDecide(rows, { ...query, kind: "member", id });
      expect(decide(snapshot, { ...query, ...asked })).toBe(expected);
    }
  }
}

function resourcesOf(rows: ModelRows): TargetScope[] {
  const { id: orgId, customer_id: customerId } = rows.org;
  return [
    { kind: "platform" },
    { kind: "customer", customerId },
    { kind: "customer", customerId: otherCustomer },
    ...services.map((serviceId) => ({ kind: "service", serviceId }) as const),
    { kind: "org", customerId, orgId },
    ...rows.projects.filter((row) => !isDeleted(row)).map(({ id }) => projectOf(rows, id)),
  ];
}

function above(resource: TargetScope): TargetScope[] {
  if (resource.kind === "platform") return [];
  if (resource.kind === "customer" || resource.kind === "service") return [{ kind: "platform" }];
  const { customerId, orgId } = resource;
  const aboveOrg: TargetScope[] = [{ kind: "customer", customerId }, { kind: "platform" }];
  return resource.kind === "org" ? aboveOrg : [{ kind: "org", customerId, orgId }, ...aboveOrg];
}

function keyOf(memberId: string, resource: TargetScope, isConditional: boolean): string {
  const ids = Object.values({ projectId: "", orgId: "", ...resource });
  return [memberId, resource.kind, ...ids.toSorted((one, other) => (one < other ? -1 : 1)), isConditional].join(" ");
}

/** Replaces the permissions that nobody names by the wildcards that stand for them. */
function withWildcards(differing: readonly string[]): string[] {
  const [own, get, list, other] = unnamed.map((each) => differing.includes(each));
  const named = differing.filter((each) => !unnamed.some((name) => name === each));
  if (own) return ["*", ...named];
  if (other) return ["*.*.*", ...named];
  return [...(get ? ["*.*.get"] : []), ...(list ? ["*.*.list"] : []), ...named];
}

/** A wildcard may be told of as part of a larger one. */
function expectTold(told: readonly string[], permission: string): void {
  const larger = permission.startsWith("*.") ? ["*", "*.*.*"] : [];
  expect([permission, ...larger].some((each) => told.includes(each))).toBe(true);
}

interface NaiveDifference {
  readonly memberId: string;
  readonly resource: TargetScope;
  readonly delta: { gained: string[]; lost: string[] };
}

/** How a member has a permission. */
interface NaiveHold {
  readonly always: boolean;
  /** The conditions of the bindings that grant it. */
  readonly under: ReadonlySet<string>;
}

/**
 * Compares the decisions on every member, resource and permission before and after: without conditions, and as if each one
 * was true.
 */
function naiveDifferences(before: ModelRows, after: ModelRows, times: readonly number[]): Map<string, NaiveDifference> {
  const found = new Map<string, NaiveDifference>();
  const holds = [before, after].map((rows) => {
    const texts = new Set(rows.role_bindings.map(({ condition }) => condition));
    const worlds = [...texts].map((text) => {
      const bindings = rows.role_bindings.filter(({ condition }) => condition === text);
      return { text, rows: { ...rows, role_bindings: bindings.map((row) => ({ ...row, condition: "" })) } };
    });
    return (memberId: string, permission: string, resource: TargetScope, now: number): NaiveHold => {
      const query = { kind: "member", id: memberId, permission, resource, now, counted: "all" } as const;
      const held = worlds.filter((world) => naiveDecide(world.rows, query)).map(({ text }) => text);
      return { always: held.includes(""), under: new Set(held.filter((text) => text !== "")) };
    };
  });
  const isFull = (one: NaiveHold, other: NaiveHold): boolean => one.always && !other.always && other.under.size === 0;
  const isMore = (one: NaiveHold, other: NaiveHold): boolean =>
    one.always ? !other.always : !other.always && [...one.under].some((text) => !other.under.has(text));
  const note = (
    memberId: string,
    resource: TargetScope,
    isConditional: boolean,
    side: "gained" | "lost",
    name: string,
  ) => {
    const key = keyOf(memberId, resource, isConditional);
    const known = found.get(key) ?? { memberId, resource, delta: { gained: [], lost: [] } };
    known.delta[side] = [...new Set([...known.delta[side], name])].toSorted((one, other) => (one < other ? -1 : 1));
    found.set(key, known);
  };
  for (const { id: memberId } of before.members) {
    for (const resource of resourcesOf(before)) {
      for (const now of times) {
        const permissionsOf = (side: "gained" | "lost", isConditional: boolean): string[] => {
          const differing = [...defaults.permissions, ...unnamed].filter((permission) => {
            const [from, to] = holds.map((hold) => hold(memberId, permission, resource, now)) as [NaiveHold, NaiveHold];
            const [more, less] = side === "gained" ? [to, from] : [from, to];
            return isMore(more, less) && isFull(more, less) !== isConditional;
          });
          return withWildcards(differing);
        };
        for (const side of ["gained", "lost"] as const) {
          for (const isConditional of [false, true]) {
            for (const name of permissionsOf(side, isConditional)) note(memberId, resource, isConditional, side, name);
          }
        }
      }
    }
  }
  return found;
}

/** An org with members in a group without bindings, and a project. */
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
  const bindTo = (scope: "org" | "project", condition = ""): LogEntry => ({
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
      condition,
    },
  });
  return { snapshot, rows, bindTo };
}
