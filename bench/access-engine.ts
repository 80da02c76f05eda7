// Benchmarks the access engine in process: building a snapshot, its memory, decisions, lists and changes. Run with
// `node --expose-gc bench/access-engine.ts`; without the flag, memory only includes typed arrays.
//
// Every member is in two groups; every tenth group is nested in another, up to five levels deep. Every group is bound in one
// project, and five also in the org. Each org also has the worst cases for an index: a group bound in many projects, a member
// of 1,000 groups, and a project with 10,000 bindings.
import { parseArgs } from "node:util";
import { type LogEntry, applyEntry } from "../src/access/engine/loading/apply-entry.ts";
import { decide } from "../src/access/engine/decisions/decide.ts";
import { explainInSteps } from "../src/access/engine/decisions/explain-decision.ts";
import { listResources } from "../src/access/engine/decisions/list-resources.ts";
import { listSubjects } from "../src/access/engine/decisions/list-subjects.ts";
import { loadRows } from "../src/access/engine/loading/load-rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../src/access/engine/org-snapshot.ts";
import type { TargetScope } from "../src/access/engine/decisions/target-scope.ts";
import type { RoleBindingRow } from "../src/access/engine/loading/rows.ts";
import { median, quantile } from "./figures.ts";

const { values } = parseArgs({ options: { members: { type: "string", default: "1000,100000,1000000" } } });
const rounds = 5;
const changeCount = 10_000;

/** The number of different changes that `changeAt` returns in turn. */
const kindsOfChange = 16;

const kinds = { org: "0", member: "1", group: "2", project: "3", role: "4", binding: "5" } as const;
type Kind = keyof typeof kinds;

/** Returns ids that are as random as the service's, but the same in each run. */
function idOf(kind: Kind, index: number): string {
  const hex = (seed: number): string => (Math.imul(index + 1, seed) >>> 0).toString(16).padStart(8, "0");
  const count = index.toString(16).padStart(7, "0");
  return `01990000-${hex(0x9e3779b1).slice(0, 4)}-7${count.slice(0, 3)}-8${hex(0x85ebca6b).slice(0, 3)}-${kinds[kind]}${count}${hex(0xc2b2ae35).slice(0, 4)}`;
}

/** Copies a text into one piece, like texts from requests. A concatenated text would be a tree of pieces. */
const flat = (text: string): string => Buffer.from(text, "latin1").toString("latin1");

const orgId = idOf("org", 0);
const customerId = idOf("org", 1);
const projectResource = (index: number): TargetScope => ({
  kind: "project",
  customerId,
  orgId,
  projectId: flat(idOf("project", index)),
});
const now = Date.UTC(2030, 0, 1);
const permission = "compute.instances.start";

/** Returns the sizes of an org with this many members. */
function shapeOf(members: number) {
  const groups = Math.max(100, members / 20);
  return { members, groups, projects: Math.max(100, members / 10), hard: Math.min(10_000, members) };
}
type Shape = ReturnType<typeof shapeOf>;

function* times<Row>(count: number, row: (index: number) => Row): Iterable<Row> {
  for (let index = 0; index < count; index++) yield row(index);
}

const memberRow = (index: number) => ({
  id: idOf("member", index),
  name: `member-${index}`,
  state: "ACTIVE" as const,
  delete_time: null,
});
const groupRow = (index: number) => ({ id: idOf("group", index), name: `group-${index}` });
const projectRow = (index: number) => ({
  id: idOf("project", index),
  name: `project-${index}`,
  state: "ACTIVE" as const,
  delete_time: null,
});
const membershipRow = (member: number, group: number) => ({
  group_id: idOf("group", group),
  member_id: idOf("member", member),
  expire_time: null,
});
const subgroupRow = (inner: number, outer: number) => ({
  group_id: idOf("group", outer),
  subgroup_id: idOf("group", inner),
});
const roleRow = (index: number, permissions: readonly string[]) => ({
  id: idOf("role", index),
  name: `role-${index}`,
  permissions,
});

function bindingRow(
  index: number,
  subject: readonly [kind: "member" | "group", index: number],
  project: number | undefined,
  role = "viewer",
): RoleBindingRow {
  return {
    id: idOf("binding", index),
    scope_type: project === undefined ? "org" : "project",
    scope_id: project === undefined ? orgId : idOf("project", project),
    subject_type: subject[0],
    subject_id: idOf(subject[0], subject[1]),
    role_id: role === "operator" ? idOf("role", 0) : null,
    predefined_role: role === "operator" ? null : role,
    start_time: null,
    expire_time: null,
    condition: "",
  };
}

/** The member in 1,000 groups, the group that is bound in all projects, and the project with many bindings. */
const busyMember = 7;
const busyGroup = 3;
const busyProject = 5;

/** Generates the bindings of groups, then those of the worst cases. */
function* bindings({ groups, projects, hard }: Shape): Iterable<RoleBindingRow> {
  let index = 0;
  for (let group = 0; group < groups; group++) {
    yield bindingRow(index++, ["group", group], group % projects, group % 3 === 0 ? "operator" : "viewer");
  }
  for (let group = 0; group < 5; group++) yield bindingRow(index++, ["group", group + 20], undefined);
  yield bindingRow(index++, ["member", 11], undefined, "owner");
  for (let project = 0; project < projects; project++) {
    yield bindingRow(index++, ["group", busyGroup], project, "operator");
  }
  for (let member = 0; member < hard; member++) yield bindingRow(index++, ["member", member], busyProject);
}

function rowsOf(shape: Shape) {
  const { members, groups, projects } = shape;
  return {
    members: times(members, memberRow),
    groups: times(groups, groupRow),
    projects: times(projects, projectRow),
    roles: [roleRow(0, [permission, "compute.instances.stop"])],
    group_members: times(members * 2, (index) =>
      index % 2 === 0
        ? membershipRow(index >> 1, (index >> 1) % groups)
        : membershipRow(index >> 1, ((index >> 1) * 31 + 1) % groups),
    ),
    subgroups: times(Math.floor(groups / 10) - 1, (index) => subgroupRow((index + 1) * 10, index + 1)),
    role_bindings: bindings(shape),
  };
}

function createEmpty(): OrgSnapshot {
  return createOrgSnapshot({
    org: { id: orgId, name: "acme", customer_id: customerId, state: "ACTIVE", delete_time: null, revision: "1" },
    predefinedRoles: {
      owner: { permissions: "*" },
      viewer: { permissions: ["iam.members.get", "iam.members.list"] },
    },
    compileCondition: () => () => true,
  });
}

function fill(snapshot: OrgSnapshot, shape: Shape): void {
  loadRows(snapshot, rowsOf(shape));
  loadRows(snapshot, {
    group_members: times(Math.min(1000, shape.groups), (group) => membershipRow(busyMember, group)),
  });
}

/** Returns microseconds per call, as the median of the rounds. */
function measure(count: number, call: (index: number) => unknown): number {
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const startedAt = performance.now();
    for (let index = 0; index < count; index++) call(index);
    // The first round warms up.
    if (round > 0) samples.push(((performance.now() - startedAt) * 1000) / count);
  }
  return median(samples);
}

/** Returns microseconds per decision. Questions are created just before they are asked, like those of requests. */
function measureDecisions(snapshot: OrgSnapshot, { members, projects }: Shape): number {
  const samples: number[] = [];
  for (let batch = 0; batch < 4000; batch++) {
    const questions = Array.from({ length: 100 }, (_, index) => {
      const number = batch * 100 + index;
      return question((number * 7919) % members, projectResource((number * 31) % projects));
    });
    const startedAt = performance.now();
    for (const asked of questions) decide(snapshot, asked);
    samples.push(((performance.now() - startedAt) * 1000) / questions.length);
  }
  return median(samples);
}

function question(member: number, resource: TargetScope, wanted = permission) {
  return {
    subject: { kind: "member", id: flat(idOf("member", member)) } as const,
    permission: wanted,
    resource,
    now,
    conditionContext: undefined,
    counted: "all" as const,
  };
}

const line = (name: string, cells: readonly string[]): void =>
  console.log(`${name.padEnd(58)}${cells.map((cell) => cell.padStart(14)).join("")}`);

const memory = (): number => {
  globalThis.gc?.();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return globalThis.gc === undefined ? arrayBuffers : arrayBuffers + heapUsed;
};

function secondsOf(run: () => void): number {
  const startedAt = performance.now();
  run();
  return (performance.now() - startedAt) / 1000;
}

function buildMeasured(members: number) {
  const shape = shapeOf(members);
  const making = secondsOf(() => {
    for (const rows of Object.values<Iterable<unknown>>(rowsOf(shape))) for (const row of rows) Object.isFrozen(row);
  });
  const before = memory();
  const snapshot = createEmpty();
  const seconds = secondsOf(() => fill(snapshot, shape)) - making;
  return { shape, snapshot, seconds, bytes: memory() - before };
}

const orgs = values.members.split(",").map((members) => buildMeasured(Number(members)));
const perOrg = (name: string, cell: (org: ReturnType<typeof buildMeasured>) => string): void =>
  line(name, orgs.map(cell));
const microseconds = (value: number): string => `${value.toFixed(2)} µs`;

perOrg("members", ({ shape }) => shape.members.toLocaleString("en"));
perOrg("groups", ({ shape }) => shape.groups.toLocaleString("en"));
perOrg("projects", ({ shape }) => shape.projects.toLocaleString("en"));
perOrg("built in, without what making the rows takes", ({ seconds }) => `${seconds.toFixed(2)} s`);
perOrg("bytes a member, all in, measured", ({ bytes, shape }) => (bytes / shape.members).toFixed(0));
perOrg("bytes a member, by snapshot.bytes", ({ snapshot, shape }) => (snapshot.bytes / shape.members).toFixed(0));
const decisions = orgs.map(({ snapshot, shape }) => measureDecisions(snapshot, shape));
line("decision, random member and project", decisions.map(microseconds));
line(
  "decisions a second",
  decisions.map((each) => (1e6 / each).toFixed(0)),
);
const busy = question(busyMember, projectResource(busyProject), "iam.nothing");
perOrg("decision, a member of up to 1,000 groups, a busy project", ({ snapshot }) =>
  microseconds(measure(5000, () => decide(snapshot, busy))),
);
const everywhere = question(busyGroup, projectResource(42));
perOrg("decision, a group bound in all projects", ({ snapshot }) =>
  microseconds(measure(5000, () => decide(snapshot, everywhere))),
);
perOrg("name to id to decision", ({ snapshot, shape }) => {
  const names = [...times(50_000, (index) => `member-${(index * 7919) % shape.members}`)];
  return microseconds(
    measure(names.length, (index) => {
      const subject = snapshot.findSubject("member", { by: "name", value: names[index] ?? "" });
      return subject !== undefined && decide(snapshot, { ...busy, subject });
    }),
  );
});
const contextOf = (): undefined => undefined;
const list = { now, permission, contextOf, limit: 100, counted: "all" as const };
perOrg("list of 100 who may, in a project", ({ snapshot }) =>
  microseconds(measure(3, () => [...listSubjects(snapshot, { ...list, resource: projectResource(0) })])),
);
perOrg("list of 100 projects, of a group bound in all", ({ snapshot }) => {
  const subject = { kind: "group", id: idOf("group", busyGroup) } as const;
  return microseconds(measure(3, () => [...listResources(snapshot, { ...list, subject, kind: "project" })]));
});
perOrg("explanation of a no, with roles and grantors", ({ snapshot }) =>
  microseconds(measure(20, () => [...explainInSteps(snapshot, busy, { maxRoles: 5, maxGrantors: 5, contextOf })])),
);

console.log(`\n${changeCount} changes of all kinds, one after the other, each org's largest group deleted among them`);
const timings = orgs.map(({ snapshot, shape }) => timeChanges(snapshot, shape));
line(
  "change, median",
  timings.map(({ middle }) => microseconds(middle)),
);
line(
  "change, 99.9 of 100",
  timings.map(({ rare }) => microseconds(rare)),
);
line(
  "change, longest",
  timings.map(({ longest }) => `${(longest / 1000).toFixed(2)} ms`),
);

/** Applies changes to a snapshot. A group with all members exists from the start, and is deleted half way. */
function timeChanges(snapshot: OrgSnapshot, shape: Shape) {
  const { members, groups } = shape;
  loadRows(snapshot, {
    groups: [groupRow(groups)],
    group_members: times(members, (member) => membershipRow(member, groups)),
  });
  const samples: number[] = [];
  for (let index = 0; index < changeCount; index++) {
    const deletesLargest = index === Math.floor(changeCount / 2);
    const change = deletesLargest
      ? { resource_type: "Group", resource_id: idOf("group", groups), before: groupRow(groups), after: null }
      : changeAt(shape, index);
    const startedAt = performance.now();
    applyEntry(snapshot, change);
    samples.push((performance.now() - startedAt) * 1000);
  }
  const rare = quantile(samples, 0.999);
  return { middle: median(samples), rare, longest: Math.max(...samples) };
}

/** Returns a creation, update or removal, in turn. */
function changeAt({ members, groups, projects, hard }: Shape, index: number): LogEntry {
  const turn = Math.floor(index / kindsOfChange);
  const created = members + turn;
  const existing = (turn * 7919) % members;
  const group = (turn * 31) % groups;
  const change = (type: string, id: string, before: object | null, after: object | null): LogEntry => ({
    resource_type: type,
    resource_id: id,
    before,
    after,
  });
  const member = memberRow(existing);
  const madeBinding = bindingRow(groups + projects + hard + 100 + turn, ["group", group], turn % projects);
  const steps: readonly (() => LogEntry)[] = [
    () => change("Member", idOf("member", created), null, memberRow(created)),
    () => change("GroupMember", idOf("member", created), null, membershipRow(created, group)),
    () => change("Member", member.id, member, { ...member, name: `renamed-${existing}` }),
    () => change("Member", member.id, member, { ...member, delete_time: "2030-01-01T00:00:00.000Z" }),
    () => change("Member", member.id, { ...member, delete_time: "2030-01-01T00:00:00.000Z" }, member),
    () => change("Group", idOf("group", groups + 1 + turn), null, groupRow(groups + 1 + turn)),
    () => change("Subgroup", idOf("group", groups + 1 + turn), null, subgroupRow(groups + 1 + turn, group)),
    () => change("RoleBinding", madeBinding.id, null, madeBinding),
    () => change("RoleBinding", madeBinding.id, madeBinding, { ...madeBinding, predefined_role: "owner" }),
    () =>
      change("Role", idOf("role", 0), roleRow(0, []), roleRow(0, [permission, `compute.instances.do-${turn % 50}`])),
    () => change("Subgroup", idOf("group", groups + 1 + turn), subgroupRow(groups + 1 + turn, group), null),
    () => change("Project", idOf("project", projects + turn), null, projectRow(projects + turn)),
    () => change("RoleBinding", madeBinding.id, madeBinding, null),
    () => change("GroupMember", idOf("member", created), membershipRow(created, group), null),
    () => change("Group", idOf("group", groups + 1 + turn), groupRow(groups + 1 + turn), null),
    () => change("Member", idOf("member", created), memberRow(created), null),
  ];
  return (steps[index % kindsOfChange] as () => LogEntry)();
}
