// Tests what is found to give a permission, in random orgs, against a reading of their rows: each way from the subject to a role binding,
// one by one.
import fc from "fast-check";
import { expect, test } from "vitest";
import { visitUses } from "../../../src/access/engine/decisions/visit-uses.ts";
import { applyEntry } from "../../../src/access/engine/loading/apply-entry.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../../src/access/engine/org-snapshot.ts";
import { required } from "../../../src/errors/required.ts";
import { type Draw, arbitraryNoise, createDraw, pick } from "../../rest/fuzz/draw.ts";
import { fuzzParameters, fuzzTimeout } from "../../support/fuzz-parameters.ts";
import { createChangeMaker, emptyRows, lastTime, permissions } from "./draw-changes.ts";
import {
  type ModelQuestion,
  type ModelRows,
  compileCondition,
  naiveDecide,
  predefinedRoles,
  projectOf,
} from "./naive-model.ts";

const parameters = fuzzParameters(150);

test(
  "a permission is given by all bindings that give it, and all ways that lead to them",
  { timeout: fuzzTimeout(parameters) },
  () => {
    const counts = { bindings: 0, edges: 0, permissions: 0, later: 0 };
    const property = fc.property(fc.noBias(arbitraryNoise(1200)), (noise) => {
      const draw = createDraw(noise);
      const rows = emptyRows();
      const maker = createChangeMaker(rows);
      const snapshot = createOrgSnapshot({ org: rows.org, predefinedRoles, compileCondition });
      for (let round = 0; round < 3; round++) {
        for (let left = 15 + draw(20); left > 0; left--) {
          const change = maker.next(draw);
          if (change !== undefined) applyEntry(snapshot, change);
        }
        snapshot.advanceTo(snapshot.revision);
        for (let asked = 0; asked < 12; asked++) {
          const question = drawQuestion(draw, rows);
          if (question === undefined || !naiveDecide(rows, question)) continue;
          const { kind, id, now } = question;
          const usesAt = (time: number) => {
            const found: string[] = [];
            const query = { ...question, subject: { kind, id }, now: time, counted: "all" } as const;
            const { until, isCutOff } = visitUses(snapshot, query, (used, part) => found.push(`${used} ${part}`));
            expect(isCutOff).toBe(false);
            expectBounded(snapshot, rows, query, found);
            return { found: found.toSorted(), until };
          };
          const { found, until } = usesAt(now);
          expect(new Set(found)).toEqual(naiveUses(rows, question));
          expect(until).toBeGreaterThan(now);
          for (let time = now; time < Math.min(until, lastTime + 1); time++) {
            expect(usesAt(time).found).toEqual(found);
            if (time > now) counts.later++;
          }
          counts.bindings += found.filter((each) => each.endsWith(" ") && each !== `${id} `).length;
          counts.permissions += found.filter((each) => each.includes(".")).length;
          counts.edges += found.filter((each) => /-.* .*-/.test(each)).length;
        }
      }
    });
    fc.assert(property, parameters);
    // By chance, there are never so few.
    const { numRuns } = parameters;
    expect(counts.bindings).toBeGreaterThan(numRuns / 4);
    expect(counts.edges).toBeGreaterThan(numRuns / 8);
    expect(counts.permissions).toBeGreaterThan(numRuns / 16);
    expect(counts.later).toBeGreaterThan(numRuns / 8);
  },
);

/** With narrow limits it visits a part of the same, which by itself allows the decision unless it says that it may not. */
function expectBounded(
  snapshot: OrgSnapshot,
  rows: ModelRows,
  query: Parameters<typeof visitUses>[1] & ModelQuestion,
  all: readonly string[],
): void {
  const found = new Set<string>();
  const visit = (used: string, part: string): void => void found.add(`${used} ${part}`);
  const { isCutOff } = visitUses(snapshot, query, visit, { giving: 2, looked: 3 });
  const kept = {
    ...rows,
    role_bindings: rows.role_bindings
      .filter(({ id, scope_type: scope }) => found.has(`${id} `) || !["org", "project"].includes(scope))
      .map((each) => ({ ...each, condition: "" })),
    group_members: rows.group_members.filter((each) => found.has(`${each.member_id} ${each.group_id}`)),
    subgroups: rows.subgroups.filter((each) => found.has(`${each.subgroup_id} ${each.group_id}`)),
  };
  if (!isCutOff) expect(naiveDecide(kept, query)).toBe(true);
  if (query.kind === "member") expect(found).toContain(`${query.id} `);
  // Beyond the limit may be one without a condition.
  if (!isCutOff) expect(all).toEqual(expect.arrayContaining([...found]));
}

function drawQuestion(draw: Draw, rows: ModelRows): ModelQuestion | undefined {
  const kind = draw(4) === 0 ? "group" : "member";
  const subjects = kind === "group" ? rows.groups : rows.members;
  if (subjects.length === 0) return undefined;
  const { id: orgId, customer_id: customerId } = rows.org;
  const project = rows.projects[draw(rows.projects.length + 1)];
  const resource = project === undefined ? ({ kind: "org", customerId, orgId } as const) : projectOf(rows, project.id);
  return {
    kind,
    id: required(subjects[draw(subjects.length)]).id,
    permission: pick(draw, permissions),
    resource,
    now: draw(lastTime + 1),
    counted: "all",
  };
}

function naiveUses(rows: ModelRows, question: ModelQuestion): Set<string> {
  // Each binding alone, as if its condition held.
  const aloneGives = (isPlain: boolean) =>
    rows.role_bindings.filter((binding) => {
      if ((binding.condition === "") !== isPlain) return false;
      const only = { ...rows, role_bindings: [{ ...binding, condition: "" }] };
      return naiveDecide(only, question);
    });
  const plain = aloneGives(true);
  const giving = plain.length > 0 ? plain : aloneGives(false);
  const uses = new Set<string>(question.kind === "member" ? [`${question.id} `] : []);
  for (const { id, scope_type: scope, role_id: role } of giving) {
    if (scope === "org" || scope === "project") uses.add(`${id} `);
    if (role !== null) uses.add(`${role} ${question.permission}`);
  }
  const bound = new Set(giving.filter((each) => each.subject_type === "group").map((each) => each.subject_id));
  // An edge is on a way if the subject leads to its begin, and its end to a group that is bound.
  const edges = [
    ...rows.group_members
      .filter(({ expire_time: end }) => end === null || question.now < new Date(end).getTime())
      .map((row) => [row.member_id, row.group_id] as const),
    ...rows.subgroups.map((row) => [row.subgroup_id, row.group_id] as const),
  ];
  const reachedFrom = (start: string): ReadonlySet<string> => {
    const reached = new Set([start]);
    // The rows may have cycles.
    for (const from of reached) for (const [inner, outer] of edges) if (inner === from) reached.add(outer);
    return reached;
  };
  const fromSubject = reachedFrom(question.id);
  for (const [inner, outer] of edges) {
    const isLeading = [...reachedFrom(outer)].some((group) => bound.has(group));
    if (fromSubject.has(inner) && isLeading) uses.add(`${inner} ${outer}`);
  }
  return uses;
}
