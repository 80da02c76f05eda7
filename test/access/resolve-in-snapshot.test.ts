// Tests how paths are resolved from the snapshot of the caller's org.
import { describe, expect, test } from "vitest";
import { isOrgOf, resolveById, resolveInSnapshot } from "../../src/access/evaluation/resolve-in-snapshot.ts";
import { parseTargetPath } from "../../src/access/evaluation/target-path.ts";
import { otherPatterns, patterns } from "../../src/paths/patterns.ts";
import type { Reference } from "../../src/paths/parse-path.ts";
import { acme, alice, createSampleSnapshot, customer, gone, idOf, names, paused, web } from "./sample-snapshot.ts";

const snapshot = createSampleSnapshot();
const suspended = createSampleSnapshot({}, [], { state: "SUSPENDED" });
const deleted = createSampleSnapshot({}, [], { isDeleted: true });

const noPath = "a condition can be evaluated only for one resource with a name";
const inOrg = { kind: "org", customerId: customer, orgId: acme } as const;
const inProject = (projectId: string) => ({ ...inOrg, kind: "project", projectId }) as const;
const byId = (value: string, shown?: string) => ({ by: "id", value, ...(shown !== undefined && { shown }) }) as const;
const byName = (value: string) => ({ by: "name", value }) as const;
const any = { by: "any" } as const;
const ofAcme = byId(acme, "acme");

const resolve = (text: string, from = snapshot) => resolveInSnapshot(names, from, parseTargetPath(text, "path"));
const resolveParsed = (pattern: readonly string[], ...references: Reference[]) =>
  resolveInSnapshot(names, snapshot, { pattern, references });

describe("what conditions and decisions see of", () => {
  test.each([
    ["/orgs/acme", inOrg, [ofAcme], true, "/orgs/acme"],
    [`/orgs/@${acme}`, inOrg, [byId(acme)], true, "/orgs/acme"],
    ["/orgs/acme/members/alice", inOrg, [ofAcme], false, "/orgs/acme/members/alice"],
    [`/orgs/acme/members/@${alice}`, inOrg, [ofAcme], false, "/orgs/acme/members/alice"],
    [`/orgs/acme/members/@${idOf(99)}`, inOrg, [ofAcme], false, undefined],
    ["/orgs/acme/projects/web", inProject(web), [ofAcme, byId(web, "web")], true, "/orgs/acme/projects/web"],
    [`/orgs/acme/projects/@${web}`, inProject(web), [ofAcme, byId(web)], true, "/orgs/acme/projects/web"],
    ["/orgs/acme/projects/web/a/b", inProject(web), [ofAcme, byId(web, "web")], false, "/orgs/acme/projects/web/a/b"],
    ["/orgs/acme/projects/new", inOrg, [ofAcme, byName("new")], true, "/orgs/acme/projects/new"],
    ["/orgs/acme/projects/new/a/b", inOrg, [ofAcme, byName("new")], false, "/orgs/acme/projects/new/a/b"],
    [`/orgs/acme/projects/@${idOf(99)}`, inOrg, [ofAcme, byId(idOf(99))], true, undefined],
    // Nothing finds a deleted project by its name, and its id has no path.
    ["/orgs/acme/projects/gone", inOrg, [ofAcme, byName("gone")], true, "/orgs/acme/projects/gone"],
    [`/orgs/acme/projects/@${gone}`, inProject(gone), [ofAcme, byId(gone)], true, undefined],
  ] as const)("%s", (text, resource, references, isItself, path) => {
    const target = resolve(text);
    const isInMissingProject = /\/projects\//.test(text) && resource === inOrg;
    expect(target).toMatchObject({ resource, isItself, isInMissingProject, suspensions: [] });
    expect(target?.references).toEqual(references);
    if (path === undefined) expect(() => target?.path()).toThrow(noPath);
    else expect(target?.path()).toBe(path);
  });

  test("a path with a dash, which stands for several resources", () => {
    const members = resolveParsed(patterns.Member, byName("acme"), any);
    expect(members).toMatchObject({ resource: inOrg, references: [ofAcme, any], isItself: false });
    expect(() => members?.path()).toThrow(noPath);
    const projects = resolveParsed(patterns.Project, byName("acme"), any);
    expect(projects).toMatchObject({ resource: inOrg, references: [ofAcme, any], isItself: true });
    expect(() => projects?.path()).toThrow(noPath);
    const bindings = resolveParsed(otherPatterns.projectRoleBinding, byName("acme"), any, byName("one"));
    expect(() => bindings?.path()).toThrow(noPath);
  });

  test("a resource of this API that the pattern names", () => {
    const key = resolveParsed(patterns.ApiKey, byName("acme"), byId(alice), byName("ci"));
    expect(key).toMatchObject({ pattern: patterns.ApiKey, resource: inOrg, isItself: false });
    expect(key?.references).toEqual([ofAcme, byId(alice), byName("ci")]);
    expect(key?.path()).toBe("/orgs/acme/members/alice/apiKeys/ci");
    const binding = resolveParsed(otherPatterns.projectRoleBinding, byName("acme"), byName("web"), byName("one"));
    expect(binding).toMatchObject({ resource: inProject(web), isItself: false });
    expect(binding?.path()).toBe("/orgs/acme/projects/web/roleBindings/one");
  });
});

describe("a suspension", () => {
  test.each([
    ["/orgs/acme/projects/paused", snapshot, ["project itself"]],
    [`/orgs/acme/projects/@${paused}/a/b`, snapshot, ["project"]],
    ["/orgs/acme/projects/web", snapshot, []],
    ["/orgs/acme/projects/web", suspended, ["org"]],
    ["/orgs/acme/projects/new", suspended, ["org"]],
    ["/orgs/acme/projects/paused", suspended, ["org", "project itself"]],
    ["/orgs/acme/projects/paused/a/b", suspended, ["org", "project"]],
    ["/orgs/acme", suspended, ["org itself"]],
    ["/orgs/acme/members/alice", suspended, ["org"]],
  ] as const)("of what contains %s", (text, from, expected) => {
    const found = resolve(text, from)?.suspensions.map(({ kind, isItself }) => (isItself ? `${kind} itself` : kind));
    expect(found).toEqual(expected);
  });

  test("is decided on the suspended resource, with its path and labels", () => {
    const [org, project] = resolve("/orgs/acme/projects/paused/a/b", suspended)?.suspensions ?? [];
    expect([org?.resource, org?.path(), org?.labels()]).toEqual([inOrg, "/orgs/acme", { tier: "gold" }]);
    expect([project?.resource, project?.path()]).toEqual([inProject(paused), "/orgs/acme/projects/paused"]);
    expect(project?.labels()).toEqual({});
  });
});

describe("above orgs", () => {
  const { Customer, Org, Member, Service, QuantityKind } = patterns;

  test("everything in all orgs, customers or services has no path", () => {
    for (const pattern of [Org, Member, Customer, Service]) {
      const target = resolveParsed(pattern, any);
      expect(target).toMatchObject({ pattern, references: [any], resource: { kind: "platform" }, isItself: false });
      expect(() => target?.path()).toThrow(noPath);
    }
  });

  test("kinds and the platform itself are on the platform, with its path", () => {
    const kinds = [
      [QuantityKind, [byName("cores")]],
      [otherPatterns.platformRoleBinding, [byName("one")]],
      [[], []],
    ] as const;
    for (const [pattern, references] of kinds) {
      const target = resolveParsed(pattern, ...references);
      expect(target).toMatchObject({ pattern, references, resource: { kind: "platform" }, suspensions: [] });
      expect(target?.path()).toBe("/");
    }
  });

  test("predefined roles are what the caller's org holds", () => {
    const target = resolveParsed(otherPatterns.predefinedRole, byName("owner"));
    expect(target).toMatchObject({ pattern: otherPatterns.predefinedRole, references: [byName("owner")] });
    expect(target).toMatchObject({ resource: inOrg, isItself: true });
    expect(target?.path()).toBe("/orgs/acme");
  });

  test.each(["/customers/acme", "/services/compute", "/services/compute/a/b", "/orgs/other", "/orgs/other/a/b"])(
    "%s is not in the snapshot",
    (text) => expect(resolve(text)).toBeUndefined(),
  );
});

test("a deleted org has no name", () => {
  expect(isOrgOf(snapshot, byName("acme"))).toBe(true);
  expect(isOrgOf(deleted, byName("acme"))).toBe(false);
  expect(isOrgOf(deleted, byId(acme))).toBe(true);
  expect(isOrgOf(deleted, byId(customer))).toBe(false);
  expect(isOrgOf(snapshot, any)).toBe(false);
});

test("the org and a project of a snapshot are targets by themselves", () => {
  expect(resolveById(snapshot)).toMatchObject({ resource: inOrg, references: [byId(acme)], isItself: true });
  const project = resolveById(snapshot, web);
  expect(project).toMatchObject({ resource: inProject(web), references: [byId(acme), byId(web)], isItself: true });
  expect(() => resolveById(snapshot, idOf(99)).path()).toThrow(noPath);
  expect([resolveById(snapshot).path(), project.path()]).toEqual(["/orgs/acme", "/orgs/acme/projects/web"]);
});
