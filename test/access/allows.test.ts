// Tests decisions from a snapshot: suspensions, narrowed credentials, and what conditions see.
import { describe, expect, test } from "vitest";
import { allows } from "../../src/access/evaluation/allows.ts";
import { subjectById } from "../../src/access/evaluation/check-request.ts";
import { resolveInSnapshot } from "../../src/access/evaluation/resolve-in-snapshot.ts";
import { type ResolvedTarget, everywhereIn, onPlatform } from "../../src/access/evaluation/resolved-target.ts";
import { parseTargetPath } from "../../src/access/evaluation/target-path.ts";
import {
  type SampleBinding,
  acme,
  alice,
  bob,
  checkOf,
  createSampleSnapshot,
  customer,
  idOf,
  names,
  now,
  onCustomer,
  onProject,
  onPlatform as boundOnPlatform,
  team,
  web,
} from "./sample-snapshot.ts";

const start = "compute.instances.start";
const roles = {
  starter: { permissions: [start] },
  reader: { permissions: ["iam.orgs.get", "iam.projects.get", start] },
  orgLifter: { permissions: ["iam.orgs.activate"] },
  projectLifter: { permissions: ["iam.projects.activate"] },
};
type Role = keyof typeof roles;
interface Bound extends SampleBinding {
  readonly role: Role;
}

const snapshotWith = (bindings: readonly Bound[], state?: "SUSPENDED") =>
  createSampleSnapshot(roles, bindings, state && { state });

const targetOf = (snapshot: ReturnType<typeof snapshotWith>, path: string): ResolvedTarget => {
  const target = resolveInSnapshot(names, snapshot, parseTargetPath(path, "path"));
  if (target === undefined) throw new Error(`${path} is elsewhere`);
  return target;
};

const may = (bindings: readonly Bound[], permission: string, path: string, state?: "SUSPENDED"): boolean => {
  const snapshot = snapshotWith(bindings, state);
  return allows(snapshot, checkOf(), permission, targetOf(snapshot, path));
};

describe("in a suspended org or project", () => {
  const [org, paused] = ["/orgs/acme", "/orgs/acme/projects/paused"];
  const [reader, orgLifter, projectLifter] = [
    { role: "reader" },
    { role: "orgLifter" },
    { role: "projectLifter" },
  ] as const;
  test.each([
    ["who may not lift it is denied", [reader], start, org, false],
    ["who may lift it is allowed", [reader, orgLifter], start, org, true],
    ["who may only lift it is denied", [orgLifter], start, org, false],
    ["who may lift suspensions of projects is denied in a suspended org", [reader, projectLifter], start, org, false],
    ["the org itself can be read", [reader], "iam.orgs.get", org, true],
    [
      "its members cannot be read with the permission to read it",
      [reader],
      "iam.orgs.get",
      `${org}/members/bob`,
      false,
    ],
    ["projects of a suspended org cannot be read", [reader], "iam.projects.get", paused, false],
    ["nor with the permission to read the org", [reader], "iam.orgs.get", "/orgs/acme/projects/web", false],
    ["a suspended project stays closed to who may lift that of the org", [reader, orgLifter], start, paused, false],
    ["to who may lift that of the project, too", [reader, projectLifter], start, paused, false],
    ["a suspended project is open to who may lift both", [reader, orgLifter, projectLifter], start, paused, true],
    ["and can be read itself by who may lift that of the org", [reader, orgLifter], "iam.projects.get", paused, true],
  ] as const)("%s", (_title, bindings, permission, path, isAllowed) => {
    expect(may(bindings, permission, path, "SUSPENDED")).toBe(isAllowed);
  });

  test.each([
    ["a permission to lift it on a project", { ...orgLifter, on: onProject(web) }, "/orgs/acme/projects/web", false],
    ["a condition on the org", { ...orgLifter, condition: `resource.path == "${org}"` }, `${org}/a/b`, true],
    ["a condition on what is in it", { ...orgLifter, condition: `resource.path == "${org}/a/b"` }, `${org}/a/b`, false],
    ["its labels", { ...orgLifter, condition: 'resource.labels.tier == "gold"' }, "/orgs/acme/projects/web", true],
    [
      "those of a project",
      { ...orgLifter, condition: 'resource.labels.env == "dev"' },
      "/orgs/acme/projects/web",
      false,
    ],
  ] as const)("a suspension of the org is decided on the org: %s", (_title, lifter, path, isAllowed) => {
    expect(may([reader, lifter], start, path, "SUSPENDED")).toBe(isAllowed);
  });

  test.each([
    ["a condition on the project", `resource.path == "${paused}"`, true],
    ["a condition on what is in it", `resource.path == "${paused}/a/b"`, false],
  ])("a suspension of a project is decided on the project: %s", (_title, condition, isAllowed) => {
    expect(may([reader, { ...projectLifter, condition }], start, `${paused}/a/b`)).toBe(isAllowed);
  });

  test.each([
    ["who may not lift it is denied", [reader], start, false],
    ["who may lift it is allowed", [reader, projectLifter], start, true],
    ["who may lift suspensions of orgs is denied", [reader, orgLifter], start, false],
    ["it can be read itself", [reader], "iam.projects.get", true],
    ["it cannot be read with the permission to read orgs", [reader], "iam.orgs.get", false],
  ] as const)("a suspended project: %s", (_title, bindings, permission, isAllowed) => {
    expect(may(bindings, permission, paused)).toBe(isAllowed);
    expect(may(bindings, permission, "/orgs/acme/projects/web")).toBe(bindings[0] === reader);
  });
});

describe("a narrowed credential", () => {
  const snapshot = snapshotWith([{ role: "starter" }, { role: "starter", to: bob, on: onProject(web) }]);
  const [org, project] = ["/orgs/acme", "/orgs/acme/projects/web"].map((path) => targetOf(snapshot, path)) as [
    ResolvedTarget,
    ResolvedTarget,
  ];
  const none = { scopes: undefined, projectId: undefined };
  test.each([
    ["by nothing", none, true, true],
    ["by a scope that includes the permission", { ...none, scopes: ["compute.*"] }, true, true],
    ["by another scope", { ...none, scopes: ["iam.*"] }, false, false],
    ["to the project", { ...none, projectId: web }, false, true],
    ["to another project", { ...none, projectId: idOf(99) }, false, false],
    ["by an impersonator who holds it on the project", { ...none, impersonatorId: bob }, false, true],
    ["by an impersonator who does not exist", { ...none, impersonatorId: idOf(99) }, false, false],
    [
      "by an impersonator who holds it, and by another scope",
      { scopes: ["iam.*"], projectId: undefined, impersonatorId: bob },
      false,
      false,
    ],
  ] as const)("%s", (_title, narrowing, onOrg, inProject) => {
    const check = checkOf(alice, narrowing);
    expect([allows(snapshot, check, start, org), allows(snapshot, check, start, project)]).toEqual([onOrg, inProject]);
  });

  test("allows nothing to a member who holds nothing, though the impersonator does", () => {
    const check = checkOf(bob, { ...none, impersonatorId: alice });
    expect(allows(snapshot, check, start, org)).toBe(false);
    expect(allows(snapshot, check, start, project)).toBe(true);
  });

  test("the impersonator needs the permission to lift a suspension as well", () => {
    const lifting: Bound[] = [{ role: "reader" }, { role: "orgLifter" }, { role: "reader", to: bob }];
    const check = checkOf(alice, { ...none, impersonatorId: bob });
    const without = snapshotWith(lifting, "SUSPENDED");
    expect(allows(without, check, start, targetOf(without, "/orgs/acme"))).toBe(false);
    const having = snapshotWith([...lifting, { role: "orgLifter", to: bob }], "SUSPENDED");
    expect(allows(having, check, start, targetOf(having, "/orgs/acme"))).toBe(true);
  });
});

describe("a condition sees", () => {
  const decide = (condition: string, target: string | ResolvedTarget, on?: Bound["on"], attributes = {}): boolean => {
    const snapshot = snapshotWith([{ role: "starter", condition, ...(on && { on }) }]);
    const resolved = typeof target === "string" ? targetOf(snapshot, target) : target;
    return allows(snapshot, { ...checkOf(), attributes }, start, resolved);
  };

  test.each([
    ["the path", 'resource.path == "/orgs/acme/a/b"', "/orgs/acme/a/b"],
    ["the path with a name, though an id is asked for", 'resource.path == "/orgs/acme"', `/orgs/@${acme}`],
    ["the labels of the org", 'resource.labels.tier == "gold"', "/orgs/acme/a/b"],
    ["the labels of the project", 'resource.labels.env == "dev"', "/orgs/acme/projects/web/a/b"],
    ["not those of its org", '!("tier" in resource.labels)', "/orgs/acme/projects/web"],
    ["the subject's path", 'subject.path == "/orgs/acme/members/alice"', "/orgs/acme"],
    ["the subject's type", 'subject.type == "member"', "/orgs/acme"],
    ["the time", `request.time == timestamp("${new Date(now).toISOString()}")`, "/orgs/acme"],
  ])("%s", (_title, condition, path) => {
    expect(decide(condition, path)).toBe(true);
    expect(decide(`!(${condition})`, path)).toBe(false);
  });

  test("the attributes of the check", () => {
    expect(decide("context.vip", "/orgs/acme", undefined, { vip: true })).toBe(true);
    expect(decide("context.vip", "/orgs/acme", undefined, { vip: false })).toBe(false);
  });

  test("does not hold if its evaluation fails", () => {
    expect(decide("context.vip", "/orgs/acme")).toBe(false);
    expect(decide("!context.vip", "/orgs/acme")).toBe(false);
  });

  test("the labels of another org, none above orgs, and does not hold without a path or labels", () => {
    const elsewhere = {
      ...onPlatform,
      resource: { kind: "org", customerId: customer, orgId: idOf(99) },
      path: () => "/orgs/other",
      labels: () => ({ tier: "silver" }),
    } as const;
    const unknown = { ...everywhereIn(elsewhere.resource), path: elsewhere.path };
    expect(decide('resource.labels.tier == "silver"', elsewhere, onCustomer)).toBe(true);
    expect(decide('!("tier" in resource.labels)', elsewhere, onCustomer)).toBe(false);
    expect(decide('!("tier" in resource.labels)', unknown, onCustomer)).toBe(false);
    expect(decide("resource.labels.size() == 0", onPlatform, boundOnPlatform)).toBe(true);
    expect(decide("resource.labels.size() == 0", everywhereIn({ kind: "platform" }), boundOnPlatform)).toBe(false);
    expect(decide("true", everywhereIn(elsewhere.resource), onCustomer)).toBe(false);
  });

  test("the subject that is asked about, though results are kept for others", () => {
    const condition = 'subject.path.endsWith("/bob")';
    const snapshot = snapshotWith([
      { role: "starter", condition },
      { role: "starter", condition, to: bob },
    ]);
    const target = targetOf(snapshot, "/orgs/acme");
    const { conditions, attributes } = checkOf();
    const decideFor = (id: string) => allows(snapshot, { ...checkOf(id), attributes, conditions }, start, target);
    expect([decideFor(alice), decideFor(bob), decideFor(alice), decideFor(bob)]).toEqual([false, true, false, true]);
  });
});

test("a subject by its record, which is valid until the snapshot changes, can be kept by its id", () => {
  const snapshot = createSampleSnapshot({}, [], {});
  const [member, group] = [
    snapshot.findSubject("member", { by: "id", value: bob }),
    snapshot.findSubject("group", { by: "name", value: "team" }),
  ];
  if (member === undefined || group === undefined) throw new Error("the sample has them");
  expect(subjectById(snapshot, member)).toEqual({ kind: "member", id: bob });
  expect(subjectById(snapshot, group)).toEqual({ kind: "group", id: team });
  const byId = { kind: "member", id: alice } as const;
  expect(subjectById(snapshot, byId)).toBe(byId);
});

test("the cost of conditions is counted once for what they share, and to look up a known result costs little", () => {
  const snapshot = snapshotWith([
    { role: "starter", condition: "[1, 2, 3].size() == 4" },
    { role: "starter", condition: "[1, 2, 3].size() == 4", to: bob },
  ]);
  const target = targetOf(snapshot, "/orgs/acme");
  const { conditions, attributes } = checkOf();
  let [spent, known] = [0, 0];
  const counting = {
    ...conditions,
    startDecision: () => ({ spend: (cost: number) => void (spent += cost), spendOnKnown: () => void known++ }),
  };
  const decideFor = (id: string) =>
    allows(snapshot, { ...checkOf(id), attributes, conditions: counting }, start, target);
  expect(decideFor(alice)).toBe(false);
  const once = spent;
  expect(once).toBeGreaterThan(0);
  expect(known).toBe(0);
  expect([decideFor(alice), decideFor(bob)]).toEqual([false, false]);
  expect([spent, known]).toEqual([once, 2]);
});
