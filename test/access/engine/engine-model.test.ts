import fc from "fast-check";
import { expect, test } from "vitest";
import { applyEntry } from "../../../src/access/engine/loading/apply-entry.ts";
import { decide } from "../../../src/access/engine/decisions/decide.ts";
import { explainInSteps } from "../../../src/access/engine/decisions/explain-decision.ts";
import { runSteps } from "../../../src/scheduling/steps.ts";
import { listResources } from "../../../src/access/engine/decisions/list-resources.ts";
import { type SubjectsQuery, listSubjects } from "../../../src/access/engine/decisions/list-subjects.ts";
import { loadRows } from "../../../src/access/engine/loading/load-rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../../src/access/engine/org-snapshot.ts";
import { lackingPermissions } from "../../../src/access/engine/decisions/lacking-permissions.ts";
import { unconditionalRoles } from "../../../src/access/engine/decisions/effective-roles.ts";
import type { TargetScope } from "../../../src/access/engine/decisions/target-scope.ts";
import { type Draw, arbitraryNoise, createDraw, pick } from "../../rest/fuzz/draw.ts";
import { fuzzParameters, fuzzTimeout } from "../../support/fuzz-parameters.ts";
import { fromCopy, takeCopy } from "./copy-snapshot.ts";
import { askedPermissions, createChangeMaker, emptyRows, lastTime, otherCustomer, services } from "./draw-changes.ts";
import {
  type ModelQuestion,
  type ModelRows,
  compileCondition,
  isDeleted,
  naiveDecide,
  naiveDenial,
  naiveDistance,
  naiveLacks,
  naiveListProjects,
  naiveListSubjects,
  predefinedRoles,
  projectOf,
} from "./naive-model.ts";

const parameters = fuzzParameters(150);
const noiseLength = 1200;

test(
  "agrees with the reference model, whether it was advanced by changes or loaded again",
  { timeout: fuzzTimeout(parameters) },
  () => {
    const counts = {
      allowed: 0,
      allowedLimited: 0,
      denied: 0,
      deniedLimited: 0,
      listed: 0,
      throughGroups: 0,
      grantors: 0,
    };
    const property = fc.property(fc.noBias(arbitraryNoise(noiseLength)), (noise) => {
      const draw = createDraw(noise);
      const rows = emptyRows();
      const maker = createChangeMaker(rows);
      let moved = createSnapshot(rows);
      for (let round = 0; round < 3; round++) {
        for (let left = 15 + draw(20); left > 0; left--) {
          const change = maker.next(draw);
          // The sweep is limited, so that removed entities are often still present.
          if (change !== undefined) applyEntry(moved, change, draw(3));
        }
        moved.advanceTo(moved.revision);
        // Like a server that starts again, and goes on with a file.
        if (draw(2) === 1) moved = fromCopy(takeCopy(moved), { predefinedRoles, compileCondition });
        const rebuilt = createSnapshot(rows);
        loadRows(rebuilt, rows);
        checkNames(moved, rows);
        for (let query = 0; query < 6; query++) check(rows, [moved, rebuilt], drawQuestion(draw, rows), draw);
      }
    });
    fc.assert(property, parameters);
    // Sequences without permissions would make a weak test. By chance, there are never so few.
    const { numRuns } = parameters;
    expect(counts.allowed).toBeGreaterThan(numRuns / 2);
    expect(counts.denied).toBeGreaterThan(numRuns);
    expect(counts.listed).toBeGreaterThan(numRuns / 2);
    expect(counts.allowedLimited).toBeGreaterThan(numRuns / 30);
    expect(counts.deniedLimited).toBeGreaterThan(numRuns / 30);
    expect(counts.throughGroups).toBeGreaterThan(numRuns / 8);
    expect(counts.grantors).toBeGreaterThan(numRuns / 8);

    function check(rows: ModelRows, snapshots: readonly OrgSnapshot[], query: ModelQuestion, random: Draw): void {
      const page = { limit: 1 + random(3), skip: random(3) };
      const expected = expectedAnswers(rows, query, page);
      if (query.counted !== "all") {
        if (expected.allowed) counts.allowedLimited++;
        else if (naiveDecide(rows, { ...query, counted: "all" })) counts.deniedLimited++;
      }
      if (expected.allowed) counts.allowed++;
      else counts.denied++;
      if (expected.subjects.length > 0) counts.listed++;
      if (expected.grantors.length > 0) counts.grantors++;
      if ((expected.distance ?? 0) > 0) counts.throughGroups++;
      const [one, other] = snapshots.map((snapshot) => answers(snapshot, query, page));
      // Comparing texts is much faster; the matcher is needed only to print a difference.
      const { explanation: _one, ...first } = one ?? { explanation: undefined };
      if (JSON.stringify(first) !== JSON.stringify(expected))
        expect({ query, ...first }).toEqual({ query, ...expected });
      if (JSON.stringify(one) !== JSON.stringify(other)) expect({ query, ...one }).toEqual({ query, ...other });
    }
  },
);

interface Page {
  readonly limit: number;
  readonly skip: number;
}

function createSnapshot(rows: ModelRows): OrgSnapshot {
  return createOrgSnapshot({ org: rows.org, predefinedRoles, compileCondition });
}

function drawQuestion(draw: Draw, rows: ModelRows): ModelQuestion {
  const kind = pick(draw, ["member", "member", "group"] as const);
  const [subjects, unknown] = [kind === "member" ? rows.members : rows.groups, rows.org.id];
  const project = rows.projects[draw(rows.projects.length + 1)]?.id ?? unknown;
  const org: TargetScope = { kind: "org", customerId: rows.org.customer_id, orgId: rows.org.id };
  const resources: readonly [TargetScope, ...TargetScope[]] = [
    projectOf(rows, project),
    projectOf(rows, project),
    org,
    { ...org, orgId: otherCustomer },
    { ...org, kind: "project", orgId: otherCustomer, projectId: project },
    { kind: "customer", customerId: pick(draw, [rows.org.customer_id, otherCustomer]) },
    { kind: "service", serviceId: pick(draw, services) },
    { kind: "platform" },
  ];
  const even = rows.role_bindings.filter(({ id }) => Number.parseInt(id.slice(-1), 16) % 2 === 0);
  const counted = pick(draw, ["all", "all", new Set(even.map(({ id }) => id))] as const);
  // Half of the questions are about a member of a group with a binding, because these are allowed more often.
  const binding = draw(2) === 0 ? undefined : rows.role_bindings[draw(Math.max(rows.role_bindings.length, 1))];
  const memberships = rows.group_members.filter((row) => row.group_id === binding?.subject_id);
  const member = memberships[draw(Math.max(memberships.length, 1))]?.member_id;
  if (binding !== undefined) {
    const { subject_type: type, subject_id: id, scope_type: scope } = binding;
    return {
      ...(member === undefined ? { kind: type, id } : { kind: "member", id: member }),
      permission: pick(draw, ["iam.members.get", ...askedPermissions]),
      resource: scope === "project" ? projectOf(rows, binding.scope_id ?? "") : pick(draw, resources),
      now: draw(lastTime + 1),
      counted,
    };
  }
  return {
    kind,
    id: subjects[draw(subjects.length + (draw(8) === 1 ? 1 : 0))]?.id ?? unknown,
    permission: pick(draw, askedPermissions),
    resource: pick(draw, resources),
    now: draw(lastTime + 1),
    counted,
  };
}

/** The roles whose permissions somebody is asked to hold. */
const grantable = Object.keys(predefinedRoles);

/** Returns `limit` ids after the first `skip`. */
function pageOf(ids: readonly string[], { limit, skip }: Page): string[] {
  return ids.slice(skip, skip + limit);
}

/** Returns the answers of the model, in the form of `answers`. */
function expectedAnswers(rows: ModelRows, query: ModelQuestion, page: Page) {
  const allowed = naiveDecide(rows, query);
  const subjects = naiveListSubjects(rows, query);
  const denial = allowed ? { roles: [], grantors: [] } : naiveDenial(rows, query);
  const org: TargetScope = { kind: "org", customerId: rows.org.customer_id, orgId: rows.org.id };
  return {
    allowed,
    held: askedPermissions.filter((permission) => naiveDecide(rows, { ...query, permission })),
    subjects,
    subjectsInParts: subjects,
    subjectsPage: pageOf(subjects, page),
    projects: naiveListProjects(rows, query),
    projectsPage: pageOf(naiveListProjects(rows, query), page),
    orgs: naiveDecide(rows, { ...query, resource: org }) ? [rows.org.id] : [],
    distance: allowed ? naiveDistance(rows, query) : undefined,
    lacking: grantable.map((name) => naiveLacks(rows, query, name)),
    roles: denial.roles,
    grantors: denial.grantors.slice(0, 2),
  };
}

function answers(snapshot: OrgSnapshot, asked: ModelQuestion, { limit, skip }: Page) {
  const { permission, resource, now } = asked;
  const subject = { kind: asked.kind, id: asked.id };
  const conditionContext = { resource, subject: asked.id };
  const contextOfGrantor = (member: number | undefined, about: TargetScope) => ({
    resource: about,
    subject: member === undefined ? "" : snapshot.members.idOf(member),
  });
  const contextOfMember = (member: number | undefined) => contextOfGrantor(member, resource);
  const contextOfResource = (about: TargetScope) => ({ resource: about, subject: asked.id });
  const counted = asked.counted === "all" ? "all" : { ids: asked.counted, revisions: [snapshot.revision] };
  const query = { subject, permission, resource, now, conditionContext, counted } as const;
  const subjects = { permission, resource, now, contextOf: contextOfMember };
  const resources = { subject, permission, now, contextOf: contextOfResource, counted } as const;
  const pageBy = (list: (after: string | undefined, limit: number) => string[]): string[] => {
    const after = skip === 0 ? undefined : list(undefined, skip).at(-1);
    return skip > 0 && list(undefined, skip).length < skip ? [] : list(after, limit);
  };
  const explanation = runSteps(
    explainInSteps(snapshot, query, { maxRoles: 100, maxGrantors: 2, contextOf: contextOfGrantor }),
  );
  return {
    allowed: decide(snapshot, query),
    held: askedPermissions.filter((name) => decide(snapshot, { ...query, permission: name })),
    subjects: runSteps(listSubjects(snapshot, { ...subjects, limit: Infinity })).ids,
    subjectsInParts: listInParts(snapshot, subjects),
    subjectsPage: pageBy((after, size) => [
      ...runSteps(listSubjects(snapshot, { ...subjects, after, limit: size })).ids,
    ]),
    projects: runSteps(listResources(snapshot, { ...resources, kind: "project", limit: Infinity })),
    projectsPage: pageBy((after, size) =>
      runSteps(listResources(snapshot, { ...resources, kind: "project", after, limit: size })),
    ),
    orgs: runSteps(listResources(snapshot, { ...resources, kind: "org", limit: 1 })),
    distance: explanation.allowed ? explanation.groups.length : undefined,
    lacking: grantable.map((name) => {
      const held = unconditionalRoles(snapshot, query);
      const wanted = predefinedRoles[name] ?? { permissions: [] };
      const isCovered = snapshot.roles.covers(held, snapshot.roles.findPredefined(name));
      const isLacking = lackingPermissions(snapshot, held, wanted).length > 0;
      return isCovered === isLacking ? "covers and lacks differ" : isLacking;
    }),
    roles: explanation.allowed ? [] : explanation.roles,
    grantors: explanation.allowed ? [] : explanation.grantors,
    explanation,
  };
}

/** Lists members in pages that end after one decision. */
function listInParts(snapshot: OrgSnapshot, query: Omit<SubjectsQuery, "limit">): string[] {
  const bound = { isOver: () => true, isExceededBy: () => false };
  const found: string[] = [];
  for (let after: string | undefined; ;) {
    const { ids, endsAfter } = runSteps(listSubjects(snapshot, { ...query, after, limit: Infinity, bound }));
    found.push(...ids);
    if (endsAfter === undefined) return found;
    after = endsAfter;
  }
}

/** Checks that every row is found by id and, unless it is deleted, by name. */
function checkNames(snapshot: OrgSnapshot, rows: ModelRows): void {
  const tables = [
    [snapshot.members, rows.members],
    [snapshot.groups, rows.groups],
    [snapshot.projects, rows.projects],
    [snapshot.roles.custom, rows.roles],
  ] as const;
  for (const [table, expected] of tables) {
    for (const row of expected) {
      const record = table.find({ by: "id", value: row.id });
      expect(table.idOf(record)).toBe(row.id);
      expect(table.nameOf(record)).toBe(isDeleted(row) ? "" : row.name);
      if (!isDeleted(row)) expect(table.find({ by: "name", value: row.name })).toBe(record);
    }
    const taken = new Set(expected.filter((row) => !isDeleted(row)).map((row) => row.name));
    for (let name = 0; name < 8; name++) {
      if (!taken.has(`name-${name}`)) expect(table.find({ by: "name", value: `name-${name}` })).toBe(0);
    }
  }
}
