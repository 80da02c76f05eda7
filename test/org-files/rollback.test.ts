// An org is led back to what it was.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { Member_State } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgFilesService } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { ResourcesService } from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { nextRevision } from "../../src/changes/revision.ts";
import { createBeforeEnd } from "../support/create-before-end.ts";
import { createPick } from "../support/create-pick.ts";
import { failureOf } from "../support/failure.ts";
import { createProvidedType } from "../support/provided-type.ts";
import { rounds, seeds } from "../support/rounds.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { createTransport } from "../support/transports.ts";
import { type RollbackPlace, createRandomWrites, openRollbackPlace } from "./rollbacks.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const open = (): Promise<RollbackPlace> => openRollbackPlace(server);

test.each(seeds(1, 1_000))(
  "after a rollback, lists and decisions are what they were, for a random history (%s)",
  async (seed) => {
    const { owner, org, head, lists, plan, rollback } = await open();
    const pick = createPick(seed);
    const { fill, write } = createRandomWrites(owner, org, pick);
    await fill();
    const [revision, before] = [await head(), await lists()];
    for (let step = 0; step < rounds(40, 10 + pick(90)); step++) await write();
    const planned = await plan(revision);
    expect(planned.changeCount).toBeGreaterThan(0);
    expect([planned.obstacles, planned.leftOut]).toEqual([[], []]);
    const { changeCount } = await rollback(revision, { plan: planned.plan });
    expect(changeCount).toBe(planned.changeCount);
    expect(await lists()).toEqual(before);
    expect((await plan(revision)).lines).toEqual([]);
    const subjects = [...required(before["members"]), ...required(before["groups"])] as { readonly path: string }[];
    const places = [{ path: org }, ...(required(before["projects"]) as { readonly path: string }[])];
    const checks = subjects
      .flatMap(({ path: subjectPath }) =>
        places.flatMap(({ path: resourcePath }) =>
          ["iam.members.get", "iam.projects.get", "iam.groups.get"].map((permission) => ({
            subjectPath,
            permission,
            resourcePath,
          })),
        ),
      )
      .slice(0, 1000);
    const ask = async (asOfRevision: string) =>
      (await owner.access.batchCheckAccess({ checks: checks.map((each) => ({ ...each, asOfRevision })) })).results.map(
        ({ allowed }) => allowed,
      );
    expect(await ask("")).toEqual(await ask(revision));
  },
);

describe("a rollback", () => {
  test("undeletes, renames and creates again, and says who gains and loses what", async () => {
    const { company, owner, org, head, plan, rollback, lists } = await open();
    const { groups, members, groupMembers, projects } = owner;
    const bob = await company.join("bob");
    await groups.createGroup({ parentPath: org, group: { name: "sre" } });
    await groupMembers.createGroupMember({
      parentPath: `${org}/groups/sre`,
      groupMember: { memberPath: bob.path },
    });
    for (const name of ["dev", "ops"]) {
      const { path: groupPath } = await groups.createGroup({ parentPath: org, group: { name } });
      await groupMembers.createSubgroup({ parentPath: `${org}/groups/sre`, subgroup: { groupPath } });
    }
    await company.bind(org, "viewer", { path: `${org}/groups/sre` });
    const { id } = await projects.createProject({ parentPath: org, project: { name: "web" } });
    const [revision, before] = [await head(), await lists()];
    await groups.deleteGroup({ path: `${org}/groups/sre` });
    await projects.updateProject({ path: `${org}/projects/web`, project: { name: "shop" } });
    const mallory = await company.joinAs("editor", "mallory");
    await members.deleteMember({ path: bob.path });
    const { lines, accessPreview, leftOut, impliedRemovals } = await plan(revision);
    expect(lines).toEqual([
      "UNDELETE members/bob",
      "UPDATE projects/shop name=web",
      "CREATE groups/sre",
      "CREATE groups/sre/subgroups/dev",
      "CREATE groups/sre/subgroups/ops",
      "CREATE groups/sre/members/bob",
      expect.stringMatching(/^CREATE roleBindings\/binding/),
      "DELETE members/mallory",
    ]);
    expect(leftOut).toEqual([]);
    expect(impliedRemovals.map(({ withPath }) => withPath)).toEqual([mallory.path]);
    expect([accessPreview?.gainingMemberCount, accessPreview?.losingMemberCount]).toEqual([1, 1]);
    expect(accessPreview?.changes.map(({ memberPath }) => memberPath)).toEqual(
      expect.arrayContaining([bob.path, mallory.path]),
    );
    await rollback(revision);
    expect(await lists()).toEqual(before);
    expect((await projects.getProject({ path: `${org}/projects/web` })).id).toBe(id);
  });

  test("leads back to a time, and twice to the same changes nothing", async () => {
    const { owner, org, files, head, lists } = await open();
    const before = await lists();
    const revision = await head();
    const { changes } = await owner.changes.listChanges({ parentPath: org, pageSize: 100 });
    const time = required(changes.find((change) => change.revision === revision)?.time);
    await owner.groups.createGroup({ parentPath: org, group: { name: "stray" } });
    const planned = await files.rollbackOrg({ path: org, time, validateOnly: true });
    expect([planned.targetRevision, planned.targetTime]).toEqual([revision, time]);
    expect((await files.rollbackOrg({ path: org, time })).changeCount).toBe(1);
    expect(await lists()).toEqual(before);
    expect((await files.rollbackOrg({ path: org, time })).changeCount).toBe(0);
    // What happened since is in the log.
    const { changes: all } = await owner.changes.listChanges({ parentPath: org, pageSize: 10 });
    expect(all.filter(({ resourcePath }) => resourcePath.endsWith("/groups/stray"))).toHaveLength(2);
  });

  test("lets names that have passed in a circle, or to something new, go back", async () => {
    const { owner, org, head, plan, rollback, lists } = await open();
    const { groups, members } = owner;
    const make = async (name: string) => (await groups.createGroup({ parentPath: org, group: { name } })).id;
    const ids = [await make("a"), await make("b"), await make("c"), await make("d")];
    const { id: member } = await members.createMember({ parentPath: org, member: { name: "mia" } });
    const [revision, before] = [await head(), await lists()];
    const rename = (index: number, name: string) =>
      groups.updateGroup({ path: `${org}/groups/@${ids[index] ?? ""}`, group: { name } });
    await rename(0, "x");
    await rename(1, "a");
    await rename(2, "b");
    await rename(0, "c");
    await rename(3, "e");
    await make("d");
    await members.deleteMember({ path: `${org}/members/@${member}` });
    await members.createMember({ parentPath: org, member: { name: "mia" } });
    const { lines } = await plan(revision);
    expect(lines.filter((line) => /name=moved-/.test(line))).toHaveLength(3);
    await rollback(revision);
    expect(await lists()).toEqual(before);
    const { groups: found } = await groups.listGroups({ parentPath: org });
    expect(found.map(({ name, id }) => [name, id])).toEqual(
      ["a", "b", "c", "d"].map((name, index) => [name, ids[index]]),
    );
  });

  test("gives members and projects the states that they had, also where something in a suspended project changes", async () => {
    const { company, owner, org, head, plan, rollback, lists } = await open();
    const { members, projects } = owner;
    const [ann, ben] = [await company.join("ann"), await company.join("ben")];
    await projects.createProject({ parentPath: org, project: { name: "web" } });
    const bound = await company.bind(`${org}/projects/web`, "viewer", ann);
    await projects.suspendProject({ path: `${org}/projects/web` });
    await members.suspendMember({ path: ann.path });
    const [revision, before] = [await head(), await lists()];
    await members.activateMember({ path: ann.path });
    await members.suspendMember({ path: ben.path });
    await projects.activateProject({ path: `${org}/projects/web` });
    await owner.roleBindings.deleteRoleBinding({ path: bound });
    await projects.suspendProject({ path: `${org}/projects/web` });
    const { lines } = await plan(revision);
    expect(lines).toEqual([
      "ACTIVATE members/ben",
      "ACTIVATE projects/web",
      expect.stringMatching(/^CREATE projects\/web\/roleBindings/),
      "SUSPEND members/ann",
      "SUSPEND projects/web",
    ]);
    await rollback(revision);
    expect(await lists()).toEqual(before);
  });

  test("leaves ended what has ended since, and an invitation accepted", async () => {
    const { created } = await createBeforeEnd(async (expireTime) => {
      const opened = await open();
      const { company, owner, org, head } = opened;
      const ann = await company.join("ann");
      const invitationExpireTime = timestampFromDate(new Date(Date.now() + 3_600_000));
      await owner.members.createMember({ parentPath: org, member: { name: "ivy", invitationExpireTime } });
      await owner.roleBindings.createRoleBinding({
        parentPath: org,
        roleBinding: { name: "soon", rolePath: "/roles/viewer", subjectPath: ann.path, expireTime },
      });
      return { ...opened, revision: await head() };
    });
    const { owner, org, plan, rollback, revision } = created;
    await owner.members.activateMember({ path: `${org}/members/ivy` });
    await expect
      .poll(async () => (await failureOf(owner.roleBindings.getRoleBinding({ path: `${org}/roleBindings/soon` }))).code)
      .toBe("NotFound");
    const { lines, leftOut } = await plan(revision);
    expect(lines).toEqual([]);
    expect(leftOut).toEqual([
      expect.stringMatching(/^roleBindings\/soon has ended since, at .*, and stays ended$/),
      "members/ivy was INVITED, and stays ACTIVE",
    ]);
    expect((await rollback(revision)).changeCount).toBe(0);
    expect((await owner.members.getMember({ path: `${org}/members/ivy` })).state).toBe(Member_State.ACTIVE);
  });

  test("spares the caller and owners that have come since", async () => {
    const { company, org, owner, head, plan, files, rollback } = await open();
    const revision = await head();
    const oscar = await company.joinAs("owner", "oscar");
    await company.joinAs("editor", "eve");
    const { lines, leftOut } = await plan(revision);
    expect(lines).toEqual(["DELETE members/eve"]);
    expect(leftOut).toEqual([
      "members/oscar stays: the caller and owners do",
      expect.stringMatching(/^roleBindings\/binding.* stays: the caller and owners do$/),
    ]);
    await rollback(revision);
    expect(await failureOf(files.rollbackOrg({ path: org, revision, plan: "x.y.z" }))).toMatchObject({
      reason: "ETAG_STALE",
    });
    expect((await oscar.orgs.getOrg({ path: org })).path).toBe(org);
    expect((await owner.orgs.getOrg({ path: org })).path).toBe(org);
  });
});

describe("what is impossible", () => {
  test("is named: what was purged, and what had a secret; and can be left out", async () => {
    const { company, owner, org, head, plan, rollback } = await open();
    const bob = await company.join("bob");
    await company.bind(org, "viewer", bob);
    await owner.clients.createClient({
      parentPath: org,
      client: { name: "app", redirectUris: ["https://a.example/"] },
    });
    await owner.groups.createGroup({ parentPath: org, group: { name: "kept" } });
    const revision = await head();
    await owner.members.deleteMember({ path: bob.path });
    const { members } = await owner.members.listMembers({ parentPath: org, showDeleted: true });
    const id = members.find(({ name }) => name === "bob")?.id ?? "";
    await owner.members.purgeMember({ path: `${org}/members/@${id}` });
    await owner.clients.deleteClient({ path: `${org}/clients/app` });
    await owner.groups.deleteGroup({ path: `${org}/groups/kept` });
    const sentences = [
      "members/bob was purged since, and cannot be made again",
      "clients/app was deleted since with its secret, and cannot be made again",
    ];
    expect((await plan(revision)).obstacles).toEqual(sentences);
    expect(await failureOf(rollback(revision))).toMatchObject({
      code: "FailedPrecondition",
      reason: "STATE_FORBIDS",
      message: sentences.join("; "),
    });
    const partial = await plan(revision, { leaveOutImpossible: true });
    expect([partial.obstacles, partial.leftOut, partial.lines]).toEqual([[], sentences, ["CREATE groups/kept"]]);
    expect((await rollback(revision, { leaveOutImpossible: true, plan: partial.plan })).changeCount).toBe(1);
  });

  test("is named: a project that has resources of a provider", async () => {
    const { company, owner, org, head, plan } = await open();
    const revision = await head();
    const { path: parentPath } = await owner.projects.createProject({ parentPath: org, project: { name: "web" } });
    const { typePath } = await createProvidedType(company.api);
    const resources = createClient(ResourcesService, company.api.transport);
    await resources.createResource({ parentPath, resource: { name: "thing", typePath } });
    const sentence = "projects/web would be removed, and has resources of providers: delete these first";
    expect((await plan(revision)).obstacles).toEqual([sentence]);
    const partial = await plan(revision, { leaveOutImpossible: true });
    expect([partial.obstacles, partial.leftOut, partial.lines]).toEqual([[], [sentence], []]);
  });

  test("is named: a name that something has which stays", async () => {
    const { company, owner, org, head, plan } = await open();
    await company.join("bob");
    const revision = await head();
    await owner.members.updateMember({ path: `${org}/members/bob`, member: { name: "robert" } });
    await company.joinAs("owner", "bob");
    expect((await plan(revision)).obstacles).toEqual([
      "members/robert was called bob, and members/bob, which stays, has that name",
    ]);
  });

  test("is more than can be done at once", async () => {
    const { owner, org, head, rollback } = await open();
    const revision = await head();
    for (let batch = 0; batch < 6; batch++) {
      const requests = Array.from({ length: 900 }, (_, index) => ({ group: { name: `g${batch}-${index}` } }));
      await owner.groups.batchCreateGroups({ parentPath: org, requests });
    }
    const { code, message } = await failureOf(rollback(revision));
    expect([code, message]).toEqual(["ResourceExhausted", expect.stringContaining("the rollback makes 5400 changes")]);
  });
});

describe("a request", () => {
  test("is refused for a mistake, with the field", async () => {
    const { org, files, head, rollback } = await open();
    const other = await open();
    const time = timestampFromDate(new Date(Date.now() + 86_400_000));
    const invalid = (field: string) => ({ code: "InvalidArgument", fields: [field] });
    expect(await failureOf(files.rollbackOrg({ path: org }))).toMatchObject(invalid("revision"));
    expect(await failureOf(rollback(await head(), { time }))).toMatchObject(invalid("time"));
    expect(await failureOf(files.rollbackOrg({ path: org, time }))).toMatchObject(invalid("time"));
    expect(await failureOf(rollback("soon"))).toMatchObject(invalid("revision"));
    expect(await failureOf(rollback(nextRevision(await head())))).toMatchObject(invalid("revision"));
    expect(await failureOf(rollback(await other.head()))).toMatchObject(invalid("revision"));
    const early = files.rollbackOrg({ path: org, time: timestampFromDate(new Date(0)) });
    expect(await failureOf(early)).toMatchObject({ code: "OutOfRange", reason: "REVISION_EXPIRED" });
  });

  test("needs each permission, and to another customer the org does not exist", async () => {
    const { company, owner, org, head } = await open();
    const revision = await head();
    await owner.groups.createGroup({ parentPath: org, group: { name: "stray" } });
    const all = [
      "iam.orgs.rollback",
      "iam.orgs.get",
      "iam.changes.list",
      ...["members", "roles", "groups", "projects", "groupMembers", "subgroups", "roleBindings"].map(
        (each) => `iam.${each}.list`,
      ),
      ...["clients", "webhooks", "identityProviders"].map((each) => `iam.${each}.list`),
      "iam.groups.delete",
    ];
    const limited = await company.join("lim");
    const { path: role } = await owner.roles.createRole({
      parentPath: org,
      role: { name: "some", permissions: all },
    });
    await company.bind(org, role, limited);
    const own = createClient(OrgFilesService, createTransport("gRPC", server.url, limited.key));
    for (const missing of all) {
      await owner.roles.updateRole({ path: role, role: { permissions: all.filter((each) => each !== missing) } });
      const outcome = await failureOf(own.rollbackOrg({ path: org, revision, validateOnly: true }));
      expect([missing, outcome.code, outcome.message]).toEqual([
        missing,
        "PermissionDenied",
        expect.stringContaining(missing),
      ]);
    }
    const stranger = await open();
    const outcomes = await Promise.all(
      [org, "/orgs/no-such-org"].map(
        async (path) => (await failureOf(stranger.files.rollbackOrg({ path, revision }))).code,
      ),
    );
    expect(outcomes[0]).toBe(outcomes[1]);
  });
});

test("a rollback grants nothing that its caller could not grant by hand, and then nothing else is made either", async () => {
  const { company, owner, org, head, files, rollback, lists } = await open();
  const bob = await company.join("bob");
  const binding = await company.bind(org, "editor", bob);
  await owner.groups.createGroup({ parentPath: org, group: { name: "sre" } });
  const revision = await head();
  await owner.roleBindings.deleteRoleBinding({ path: binding });
  await owner.groups.deleteGroup({ path: `${org}/groups/sre` });
  const limited = await company.join("lim");
  const permissions = ["iam.orgs.rollback", "iam.groups.create", "iam.roleBindings.create", "iam.members.delete"];
  const { path: role } = await owner.roles.createRole({ parentPath: org, role: { name: "some", permissions } });
  await company.bind(org, role, limited);
  await company.bind(org, "viewer", limited);
  const before = await lists();
  const own = createClient(OrgFilesService, createTransport("gRPC", server.url, limited.key));
  for (const validateOnly of [true, false])
    expect(await failureOf(own.rollbackOrg({ path: org, revision, validateOnly }))).toMatchObject({
      code: "PermissionDenied",
      message: expect.stringContaining("to grant a role, the caller must hold every permission of the role"),
    });
  expect(await lists()).toEqual(before);
  await rollback(revision);
  expect((await files.rollbackOrg({ path: org, revision })).changeCount).toBe(0);
});

test("a rollback leads a webhook back under its id", async () => {
  const { owner, org, head, lists, plan, rollback } = await open();
  const webhook = { name: "hook", url: "https://hooks.example/a", filter: "type = CREATED", labels: { a: "b" } };
  const { path } = await owner.webhooks.createWebhook({ parentPath: org, webhook });
  const [revision, before] = [await head(), await lists()];
  const changed = { name: "other", url: "https://hooks.example/b", filter: "", labels: {} };
  await owner.webhooks.updateWebhook({ path, webhook: changed, updateMask: { paths: Object.keys(changed) } });
  expect((await plan(revision)).lines).toEqual([
    "UPDATE webhooks/other name=hook",
    "UPDATE webhooks/other labels url filter",
  ]);
  await rollback(revision);
  expect(await lists()).toEqual(before);
});

describe("at once", () => {
  test("of two rollbacks on two servers to the same plan, one is made", async () => {
    const { owner, org, files, head, plan, lists } = await open();
    const [revision, before] = [await head(), await lists()];
    for (const name of ["a", "b", "c"]) await owner.groups.createGroup({ parentPath: org, group: { name } });
    const { plan: token } = await plan(revision);
    const other = createClient(OrgFilesService, createTransport("gRPC", (await secondSharedServer()).url, owner.key));
    const outcomes = await Promise.allSettled(
      [files, other].map((each) => each.rollbackOrg({ path: org, revision, plan: token })),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await lists()).toEqual(before);
  });

  test("with writes, a rollback without a plan is of an org as it is", async () => {
    const { owner, org, head, rollback, lists } = await open();
    const [revision, before] = [await head(), await lists()];
    const names = ["a", "b", "c", "d", "e"];
    const writing = Promise.all(names.map((name) => owner.groups.createGroup({ parentPath: org, group: { name } })));
    const outcomes = await Promise.allSettled([rollback(revision), rollback(revision)]);
    await writing;
    for (const outcome of outcomes)
      if (outcome.status === "rejected")
        expect(await failureOf(Promise.reject(outcome.reason))).toMatchObject({ reason: "ETAG_STALE" });
    await rollback(revision);
    expect(await lists()).toEqual(before);
  });

  test("a plan of an org that has changed since, or of another request, is refused", async () => {
    const { owner, org, head, plan, rollback } = await open();
    const revision = await head();
    await owner.groups.createGroup({ parentPath: org, group: { name: "a" } });
    const { plan: token } = await plan(revision);
    expect(await failureOf(rollback(revision, { plan: token, leaveOutImpossible: true }))).toMatchObject({
      fields: ["plan"],
    });
    await owner.groups.createGroup({ parentPath: org, group: { name: "b" } });
    expect(await failureOf(rollback(revision, { plan: token }))).toMatchObject({
      code: "Aborted",
      reason: "ETAG_STALE",
    });
    const requestId = crypto.randomUUID();
    const first = await rollback(revision, { requestId });
    expect(first.changeCount).toBe(2);
    expect(await rollback(revision, { requestId })).toEqual(first);
  });
});
