// Members cannot change the names and labels that conditions depend on, if someone would gain more access than the author of
// the change has.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dependenciesOf, readsLabel } from "../../src/access/conditions/condition-dependencies.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type CastMember, type OrgCast, createOrgCast } from "./org-cast.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const start = "compute.instances.start";

let cast: OrgCast;
let org: string;
let web: string;
/** Can update members and projects, and nothing else. */
let alice: CastMember;
let starter: string;
beforeEach(async () => {
  cast = await createOrgCast("gRPC", server);
  org = cast.org.path;
  web = await cast.project("web");
  const updates = ["iam.projects.update", "iam.projects.create", "iam.members.update", "iam.orgs.update"];
  alice = await cast.member("alice", await cast.role("updater", ...updates));
  starter = await cast.role("starter", start);
});

const expectExceeds = async (call: Promise<unknown>): Promise<void> => {
  expect(await failureOf(call)).toMatchObject({
    code: "PermissionDenied",
    reason: "GRANT_EXCEEDS_OWN",
    metadata: { permission: start },
  });
};

describe("a project", () => {
  const label = (member: CastMember, labels: Record<string, string>) =>
    member.api.projects.updateProject({ path: web, project: { labels }, updateMask: { paths: ["labels"] } });

  test.each(["org", "project", "customer", "platform"])(
    "rejects a change of labels on which a binding on the %s depends",
    async (kind) => {
      const parent = { org, project: web, customer: cast.org.customerPath, platform: "" }[kind] ?? "";
      const isInside = kind === "org" || kind === "project";
      const role = isInside ? starter : "/roles/admin";
      const subject =
        kind === "platform"
          ? (await cast.api.members.createMember({ parentPath: "orgs/system", member: { name: uniqueName("s") } })).path
          : alice.path;
      const path = await cast.grant(parent, subject, role, { condition: `resource.labels.env == "${cast.org.name}"` });
      expect(await failureOf(label(alice, { env: cast.org.name }))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
      expect(await failureOf(label(alice, { team: "a", env: "b" }))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
      expect((await label(alice, { team: "a" })).labels).toEqual({ team: "a" });
      // The operator has all permissions.
      const labels = { env: cast.org.name };
      const done = await cast.api.projects.updateProject({ path: web, project: { labels } });
      expect(done.labels).toMatchObject(labels);
      if (isInside) expect(await cast.may(alice.path, start, web)).toBe(true);
      // Removing a label is rejected, too, because a condition can require its absence.
      expect(await failureOf(label(alice, {}))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
      await cast.api.roleBindings.deleteRoleBinding({ path });
      expect((await label(alice, {})).labels).toEqual({});
    },
  );

  test("accepts a change of labels from a caller who holds the dependent role there without a condition", async () => {
    await cast.grant(org, (await cast.member("bob")).path, starter, { condition: `resource.labels["env"] == "dev"` });
    await expectExceeds(label(alice, { env: "dev" }));
    await cast.grant(web, alice.path, starter);
    expect((await label(alice, { env: "dev" })).labels).toEqual({ env: "dev" });
  });

  test("accepts it from a caller who may grant and revoke what it does not hold, but not with one of the two", async () => {
    await cast.grant(org, alice.path, starter, { condition: `resource.labels.env == "dev"` });
    const [grants, revokes] = ["iam.roleBindings.grantUnheld", "iam.roleBindings.revokeUnheld"] as const;
    for (const [name, permission] of Object.entries({ granter: grants, revoker: revokes })) {
      const caller = await cast.member(name, await cast.role(name, "iam.projects.update", permission));
      await expectExceeds(label(caller, { env: "dev" }));
    }
    const both = await cast.member("both", await cast.role("both", "iam.projects.update", grants, revokes));
    expect((await label(both, { env: "dev" })).labels).toEqual({ env: "dev" });
  });

  test("rejects a change of a name on which a binding depends, but accepts a new display name", async () => {
    await cast.grant(org, alice.path, starter, { condition: `resource.path.startsWith("${org}/projects/dev-")` });
    const update = (project: object) => alice.api.projects.updateProject({ path: web, project });
    await expectExceeds(update({ name: "dev-web" }));
    expect((await update({ displayName: "dev-web" })).name).toBe("web");
    expect(await cast.may(alice.path, start, web)).toBe(false);
  });

  test("accepts new labels if bindings depend on other projects, the time or the context", async () => {
    const other = await cast.project("other");
    await cast.grant(other, alice.path, starter, { condition: `resource.labels.env == "dev"` });
    await cast.grant(org, alice.path, starter, { condition: `request.time.getFullYear() < 2000` });
    await cast.grant(org, alice.path, starter, { condition: `context.env == "dev"` });
    expect((await label(alice, { env: "dev" })).labels).toEqual({ env: "dev" });
  });
});

/** Creates a caller with `admin` on the platform, who can rename orgs but does not hold every permission. */
async function createPlatformAdmin(): Promise<Api> {
  const parentPath = "orgs/system";
  const { path } = await cast.api.members.createMember({ parentPath, member: { name: uniqueName("admin") } });
  await cast.grant("", path, "/roles/admin");
  const { secret } = await cast.api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
  return createApi("gRPC", server.url, secret);
}

test("an org rejects changes of labels and names on which bindings depend", async () => {
  await cast.grant(org, alice.path, starter, { condition: `resource.labels.env == "dev"` });
  const update = (fields: object) => alice.api.orgs.updateOrg({ path: org, org: fields });
  await expectExceeds(update({ labels: { env: "dev" } }));
  expect((await update({ labels: { team: "a" } })).labels).toEqual({ team: "a" });
  expect((await update({ displayName: "Acme" })).displayName).toBe("Acme");
  const admin = await createPlatformAdmin();
  await cast.grant(web, alice.path, "/roles/owner", { condition: `resource.path == "/orgs/new/projects/web"` });
  const renamed = admin.orgs.updateOrg({ path: org, org: { name: uniqueName("new") } });
  expect(await failureOf(renamed)).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
});

test("an org accepts labels on which only a binding in one of its projects depends", async () => {
  await cast.grant(web, alice.path, starter, { condition: `resource.labels.env == "dev"` });
  const { labels } = await alice.api.orgs.updateOrg({ path: org, org: { labels: { env: "dev" } } });
  expect(labels).toEqual({ env: "dev" });
  expect(await cast.may(alice.path, start, web)).toBe(false);
});

test("a member rejects a change of a name on which its binding, or that of an outer group, depends", async () => {
  const [inner, outer] = [await cast.group("inner"), await cast.group("outer")];
  await cast.nest(outer, inner);
  await cast.join(inner, alice.path);
  const rename = (name: string) => alice.api.members.updateMember({ path: alice.path, member: { name } });
  await rename("alice-b");
  await cast.grant(org, outer, starter, { condition: `subject.path == "${org}/members/boss"` });
  const again = alice.api.members.updateMember({ path: `${org}/members/alice-b`, member: { name: "boss" } });
  await expectExceeds(again);
  const shown = { path: `${org}/members/alice-b`, member: { displayName: "Boss" } };
  expect((await alice.api.members.updateMember(shown)).displayName).toBe("Boss");
  expect(await cast.may(`${org}/members/alice-b`, start, org)).toBe(false);
});

test("orgs, groups and members reject a change of a name on which a binding depends", async () => {
  const admin = await createPlatformAdmin();
  await cast.grant(web, alice.path, "/roles/owner", { condition: `!subject.path.startsWith("${org}/")` });
  const renamed = admin.orgs.updateOrg({ path: org, org: { name: uniqueName("new") } });
  expect(await failureOf(renamed)).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
  const temp = await cast.group("temp");
  const renamer = await cast.member("renamer", await cast.role("renamer", "iam.groups.update", "iam.members.update"));
  await cast.grant(org, renamer.path, starter, { condition: `resource.path.startsWith("${org}/groups/temp-")` });
  await expectExceeds(renamer.api.groups.updateGroup({ path: temp, group: { name: "temp-b" } }));
  await expectExceeds(renamer.api.members.updateMember({ path: alice.path, member: { name: "temp-a" } }));
});

describe("conditions see the name of a resource, whether it is requested by name or by id", () => {
  const { owner, admin } = { owner: "/roles/owner", admin: "/roles/admin" };

  test("an id does not bypass a condition that excludes a name", async () => {
    const boss = await cast.api.members.createMember({ parentPath: org, member: { name: "boss" } });
    const bob = await cast.member("bob");
    await cast.grant(org, bob.path, owner, { condition: `!resource.path.startsWith("${org}/members/boss")` });
    for (const path of [boss.path, `${org}/members/@${boss.id}`]) {
      expect(await failureOf(bob.api.members.deleteMember({ path }))).toMatchObject({ code: "PermissionDenied" });
    }
    const { id } = await cast.api.members.getMember({ path: alice.path });
    expect((await bob.api.members.getMember({ path: `${org}/members/@${id}` })).path).toBe(alice.path);
  });

  test("neither does a dash, nor a binding on the platform", async () => {
    const secret = await cast.project("secret");
    const { id } = await cast.api.projects.getProject({ path: secret });
    const { path: subject } = await cast.api.members.createMember({
      parentPath: "orgs/system",
      member: { name: uniqueName("helper") },
    });
    const { secret: key } = await cast.api.apiKeys.createApiKey({ parentPath: subject, apiKey: { name: "ci" } });
    const api = createApi("gRPC", server.url, key);
    for (const role of [owner, admin]) {
      const path = await cast.grant("", subject, role, { condition: `!resource.path.startsWith("${secret}")` });
      for (const hidden of [secret, `${org}/projects/@${id}`, `/orgs/-/projects/@${id}`]) {
        expect(await failureOf(api.projects.getProject({ path: hidden }))).toMatchObject({ code: "PermissionDenied" });
      }
      // The list contains only its own org, in which nothing is excluded.
      const { projects } = await api.projects.listProjects({ parentPath: "orgs/-" });
      expect(projects.filter((project) => !project.path.startsWith("/orgs/system/"))).toEqual([]);
      expect((await api.projects.getProject({ path: web })).path).toBe(web);
      expect(await cast.may(subject, "iam.projects.get", secret)).toBe(false);
      expect(await cast.may(subject, "iam.projects.get", web)).toBe(true);
      await cast.api.roleBindings.deleteRoleBinding({ path });
    }
  });

  test("a condition on the path is false for a deleted project or org, for a member of another org, too", async () => {
    const { customerPath } = cast.org;
    const sibling = await cast.api.orgs.createOrg({ org: { name: uniqueName("sibling"), customerPath } });
    const { path: subject } = await cast.api.members.createMember({
      parentPath: sibling.path,
      member: { name: "auditor" },
    });
    await cast.grant(customerPath, subject, admin, { condition: `resource.path.startsWith("${web}")` });
    const { id } = await cast.api.projects.getProject({ path: web });
    const byId = `${org}/projects/@${id}`;
    expect(await cast.may(subject, start, byId)).toBe(true);
    await cast.api.projects.deleteProject({ path: web });
    expect(await cast.may(subject, start, byId)).toBe(false);
    await cast.api.projects.undeleteProject({ path: byId });
    expect(await cast.may(subject, start, byId)).toBe(true);
    await cast.api.orgs.deleteOrg({ path: org });
    expect(await cast.may(subject, start, `/orgs/@${cast.org.id}/projects/@${id}`)).toBe(false);
  });

  test("a condition on the path is false for a deleted resource, which has no name", async () => {
    const bob = await cast.member("bob");
    await cast.grant(org, bob.path, owner, { condition: `resource.path != "${web}"` });
    const { id } = await cast.api.projects.getProject({ path: web });
    await cast.api.projects.deleteProject({ path: web });
    const path = `${org}/projects/@${id}`;
    expect(await failureOf(bob.api.projects.purgeProject({ path }))).toMatchObject({ code: "PermissionDenied" });
    expect(await cast.may(bob.path, start, path)).toBe(false);
    const question = { subjectPath: bob.path, permission: start, resourcePath: path };
    expect((await cast.access.explainAccess(question)).allowed).toBe(false);
  });
});

test("conditions do not read the labels of the subject's org for a resource in another org", async () => {
  const { customerPath } = cast.org;
  const sibling = await cast.api.orgs.createOrg({
    org: { name: uniqueName("sibling"), customerPath, labels: { env: "dev" } },
  });
  const { path: subject } = await cast.api.members.createMember({
    parentPath: sibling.path,
    member: { name: "auditor" },
  });
  await cast.grant(customerPath, subject, "/roles/admin", { condition: `resource.labels.env == "dev"` });
  expect(await cast.may(subject, start, sibling.path)).toBe(true);
  expect(await cast.may(subject, start, org)).toBe(false);
});

test.each([
  [`resource.labels.env == "dev"`, true],
  [`"env" in resource.labels`, true],
  [`resource.labels[ 'env' ] == "dev"`, true],
  [`resource.labels[context.key] == "dev"`, true],
  [`resource.labels["\\x65nv"] == "dev"`, true],
  [`size(resource.labels) > 0`, true],
  [`resource.labels.size() > 0`, true],
  [`context.k in resource.labels`, true],
  [`"team" in resource.labels && context.k in resource.labels`, true],
  [`resource.labels == context.want`, true],
  [`resource.labels["en" + context.v] == "dev"`, true],
  [`(resource.labels)[context.k] == "dev"`, true],
  [`resource == context.want`, true],
  [`"e" + "nv" in resource.labels`, true],
  [`("env" + "") in resource.labels`, true],
  [`(context.a ? "env" : "b") in resource.labels`, true],
  [`["env"] == [resource.labels.team] || "x" in resource["labels"]`, true],
  [`resource.labels in [context.want]`, true],
  [`.resource.labels.env == "dev"`, true],
  [`resource . labels /* no */ == {}`, true],
  [`"not ( CEL`, true],
  [`"env" in context.labels`, false],
  [`"resource.labels.env" == context.text`, false],
  [`resource.labels.environment == "dev"`, false],
  [`has(resource.labels.team) && resource.path == "/orgs/a"`, false],
  [`resource.labels.team == "a"`, false],
  [`resource.labels["team"] == "a"`, false],
  [`context.env == "dev"`, false],
])("the dependencies of %s on a label are known from its text", (condition, looks) => {
  expect(readsLabel(dependenciesOf(condition), "env")).toBe(looks);
});
