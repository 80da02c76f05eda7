// Tests that questions about access are answered as of an earlier moment.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CheckAccessRequest, ListResourcesRequest_Kind } from "../../gen/iam/v1alpha/access_pb.ts";
import { notePredefinedRoles } from "../../src/access/snapshots/past-roles.ts";
import { isRevision, nextRevision } from "../../src/changes/revision.ts";
import { openCompany } from "../access/callers.ts";
import { type AccessPlace, createAccessPlace, startInstance as permission } from "../support/access-place.ts";
import { uniqueName } from "../support/api.ts";
import { createBeforeEnd } from "../support/create-before-end.ts";
import { createPick } from "../support/create-pick.ts";
import { failureOf } from "../support/failure.ts";
import { createRandomHistory } from "../support/random-history.ts";
import { type StatesOfOrgs, openStates } from "../support/keep-states.ts";
import { rounds, seeds } from "../support/rounds.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { overFirst } from "../support/transports.ts";

let server: SharedServer;
/** Purges at once, and has the log that is cut. */
let purging: TestServer;
let sql: SqlClient;
let states: StatesOfOrgs;
beforeAll(async () => {
  server = await sharedServer();
  purging = await startTestServer({ purgeIntervalMs: 100 });
  sql = await openSqlClient(purging.databaseUrl);
  states = openStates(purging.databaseUrl);
});
afterAll(async () => {
  await states.close();
  await sql.close();
  await purging.close();
});

const open = (on: SharedServer) => createAccessPlace("gRPC", on.url, on.operatorKey);

/** Returns the revision at which an org is. */
async function headOf({ access, org, bob }: AccessPlace): Promise<string> {
  return (await access.checkAccess({ subjectPath: bob, permission, resourcePath: org.path })).revision;
}

const mayAsOf = async ({ access }: AccessPlace, subjectPath: string, resourcePath: string, asOfRevision: string) =>
  (await access.checkAccess({ subjectPath, permission, resourcePath, asOfRevision })).allowed;

type Check = Pick<CheckAccessRequest, "subjectPath" | "permission" | "resourcePath">;

/** What was answered at a revision, by questions. */
interface Recorded {
  readonly revision: string;
  readonly checks: readonly Check[];
  readonly allowed: readonly boolean[];
  readonly subjects: readonly string[][];
  readonly resources: readonly string[][];
}

/** The number of places whose members are listed, and of members whose projects are: of all in `npm run soak`. */
const listed = rounds(2, 1_000);

/** Asks questions about an org, of now or as of a revision. */
async function askAll({ access, org }: AccessPlace, checks: readonly Check[], asOfRevision = ""): Promise<Recorded> {
  const { results } = await access.batchCheckAccess({ checks: checks.map((check) => ({ ...check, asOfRevision })) });
  const places = [...new Set(checks.map(({ resourcePath }) => resourcePath))].slice(-listed);
  const subjects = [...new Set(checks.map(({ subjectPath }) => subjectPath))].slice(-listed);
  const page = { pageSize: 1000, asOfRevision };
  const [whoMay, whatMay] = await Promise.all([
    Promise.all(
      places.map((resourcePath) => access.listSubjects({ ...page, permission: "iam.members.get", resourcePath })),
    ),
    Promise.all(
      subjects.map((subjectPath) =>
        access.listResources({ ...page, subjectPath, permission: "iam.projects.get", parentPath: org.path }),
      ),
    ),
  ]);
  const answers = [...results, ...whoMay, ...whatMay];
  return {
    revision: [...new Set(answers.map(({ revision }) => revision))].join(" "),
    checks,
    allowed: results.map(({ allowed }) => allowed),
    subjects: whoMay.map(({ subjectPaths }) => subjectPaths),
    resources: whatMay.map(({ resourcePaths }) => resourcePaths),
  };
}

/** A batch takes 1,000. */
const maxChecks = rounds(200, 1_000);

/** Returns checks of members and groups on projects and the org: all of them, or every few. */
async function checksOf({ api, org: { path: parentPath } }: AccessPlace): Promise<Check[]> {
  const also = { parentPath, pageSize: 1000, showDeleted: true };
  const { members } = await api.members.listMembers(also);
  const { groups } = await api.groups.listGroups({ parentPath, pageSize: 1000 });
  const { projects } = await api.projects.listProjects(also);
  const subjects = [
    ...members.map(({ id }) => `${parentPath}/members/@${id}`),
    ...groups.map(({ id }) => `${parentPath}/groups/@${id}`),
  ];
  const places = [parentPath, ...projects.map(({ id }) => `${parentPath}/projects/@${id}`)];
  const all = subjects.flatMap((subjectPath) =>
    places.flatMap((resourcePath) =>
      ["iam.members.get", "iam.projects.get"].map((each) => ({ subjectPath, permission: each, resourcePath })),
    ),
  );
  return all.filter((_, index) => index % Math.ceil(all.length / maxChecks) === 0);
}

test.each(seeds(2, 1_000))(
  "answers as of each revision of a random history are those that were given then (%s)",
  async (seed) => {
    const place = await open(purging);
    await place.grant(place.org.path, place.sre, "/roles/viewer");
    const history = createRandomHistory(place.api, place.org.path, { pickNumber: createPick(seed) });
    const recorded: Recorded[] = [];
    for (let step = 0; step < rounds(12, 25); step++) {
      for (let write = 0; write < rounds(2, 1); write++) await history.write();
      const answers = await askAll(place, await checksOf(place));
      // A purge comes by itself, also between two answers.
      if (!isRevision(answers.revision)) continue;
      recorded.push(answers);
      // What is answered is kept for a minute, so a history is read with states or without.
      if (step % 5 !== 2 || seed % 2 === 0) continue;
      expect(await states.keep(place.org.id, answers.revision)).toBe(true);
    }
    for (const each of recorded) {
      expect(await askAll(place, each.checks, each.revision)).toEqual(each);
    }
    const differing = recorded.filter((each) => each.allowed.some((allowed) => allowed));
    expect(differing.length).toBeGreaterThan(0);
  },
);

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  let place: AccessPlace;
  let before: string;
  let granted: string;
  let bindingPath: string;
  beforeAll(async () => {
    place = await createAccessPlace(protocol, server.url, server.operatorKey);
    before = await headOf(place);
    bindingPath = await place.grant(place.web, place.sre, "/roles/editor");
    granted = await headOf(place);
    await place.api.groups.deleteGroup({ path: place.sre });
  });

  test("that somebody asks is in the log, once for each caller", async () => {
    const company = await openCompany(protocol, server);
    const { path: parentPath } = company.org;
    const [olive, otto] = [await company.joinAs("owner", "olive"), await company.joinAs("owner", "otto")];
    const check = { subjectPath: olive.path, permission, resourcePath: parentPath };
    const { revision: asOfRevision } = await olive.access.checkAccess(check);
    for (const { access } of [olive, otto, olive]) await access.checkAccess({ ...check, asOfRevision });
    await olive.access.listSubjects({ permission, resourcePath: parentPath, asOfRevision });
    const { changes } = await olive.changes.listChanges({ parentPath, filter: "type = READ" });
    expect(changes.map(({ resourcePath, actorPath }) => [resourcePath, actorPath])).toEqual([
      [`${parentPath}/changes`, otto.path],
      [`${parentPath}/changes`, olive.path],
    ]);
  });

  test("all questions are answered as of a revision, with what was removed with its group since", async () => {
    const { access, alice, web, org } = place;
    const check = { subjectPath: alice, permission, resourcePath: web };
    const answers = async (asOfRevision: string) => [
      await mayAsOf(place, alice, web, asOfRevision),
      (await access.batchCheckAccess({ checks: [{ ...check, asOfRevision }] })).results[0]?.allowed,
      (await access.listSubjects({ permission, resourcePath: web, asOfRevision })).subjectPaths,
      (await access.listResources({ subjectPath: alice, permission, parentPath: org.path, asOfRevision }))
        .resourcePaths,
      (await access.explainAccess({ ...check, asOfRevision })).grants.map(({ roleBindingPath, groupPaths }) => [
        roleBindingPath,
        groupPaths,
      ]),
    ];
    const [no, yes] = [
      [false, false, [], [], []],
      [true, true, [alice], [web], [[bindingPath, [place.sre]]]],
    ];
    expect(await answers("")).toEqual(no);
    expect(await answers(before)).toEqual(no);
    expect(await answers(granted)).toEqual(yes);
    const { revision } = await access.checkAccess({ ...check, asOfRevision: granted });
    expect(revision).toBe(granted);
  });

  test("what had expired by a time counts until then", async () => {
    const { api, access, bob, web, org } = place;
    const { expireTime, created } = await createBeforeEnd((end) => {
      const roleBinding = { name: uniqueName("ends"), rolePath: "/roles/editor", subjectPath: bob, expireTime: end };
      return api.roleBindings.createRoleBinding({ parentPath: web, roleBinding });
    });
    const { etag: revision } = created;
    const { changes } = await api.changes.listChanges({ parentPath: org.path, pageSize: 10 });
    const asOfTime = changes.find((change) => change.revision === revision)?.time;
    await expect.poll(() => place.may(bob, web)).toBe(false);
    const check = { subjectPath: bob, permission, resourcePath: web };
    expect(await mayAsOf(place, bob, web, revision)).toBe(true);
    if (asOfTime === undefined) throw new Error("a change has a time");
    expect(await access.checkAccess({ ...check, asOfTime })).toMatchObject({ allowed: true, revision });
    expect(await access.checkAccess({ ...check, asOfTime: expireTime })).toMatchObject({ allowed: false });
    const explained = await access.explainAccess({ ...check, asOfTime: expireTime });
    expect(explained.allowed).toBe(false);
  });

  test("names are those of then, but for that of the org", async () => {
    const { api, access, org } = await createAccessPlace(protocol, server.url, server.operatorKey);
    const parentPath = org.path;
    const { path: web } = await api.projects.createProject({ parentPath, project: { name: "shop" } });
    const { path: dora } = await api.members.createMember({ parentPath, member: { name: "dora" } });
    const roleBinding = { name: "edits", rolePath: "/roles/editor", subjectPath: dora };
    await api.roleBindings.createRoleBinding({ parentPath: web, roleBinding });
    const { revision } = await access.checkAccess({ subjectPath: dora, permission, resourcePath: web });
    await api.members.updateMember({ path: dora, member: { name: "dorothy" } });
    await api.projects.updateProject({ path: web, project: { name: "old-shop" } });
    await api.projects.createProject({ parentPath, project: { name: "shop" } });
    const name = uniqueName("renamed");
    await api.orgs.updateOrg({ path: parentPath, org: { name } });
    const asked = { permission, asOfRevision: revision };
    const [subjectPath, resourcePath] = [`/orgs/${name}/members/dora`, `/orgs/${name}/projects/shop`];
    expect(await access.checkAccess({ ...asked, subjectPath, resourcePath })).toMatchObject({ allowed: true });
    expect(await access.listSubjects({ ...asked, resourcePath })).toMatchObject({ subjectPaths: [dora] });
    const now = await failureOf(access.explainAccess({ permission, subjectPath, resourcePath }));
    expect(now).toMatchObject({ code: "NotFound" });
  });

  test("mistakes are refused with the field", async () => {
    const { access, alice, web, org } = place;
    const check = { subjectPath: alice, permission, resourcePath: web };
    const asOfTime = timestampFromDate(new Date());
    const future = timestampFromDate(new Date(Date.now() + 86_400_000));
    const other = await createAccessPlace(protocol, server.url, server.operatorKey);
    const ask = (fields: object) => failureOf(access.checkAccess({ ...check, ...fields }));
    const invalid = (field: string) => ({ code: "InvalidArgument", fields: [field] });
    expect(await ask({ asOfRevision: granted, asOfTime })).toMatchObject(invalid("as_of_time"));
    expect(await ask({ asOfRevision: granted, revision: granted })).toMatchObject(invalid("as_of_revision"));
    expect(await ask({ asOfTime, maxStaleness: { seconds: 1n, nanos: 0 } })).toMatchObject(invalid("as_of_time"));
    expect(await ask({ asOfTime: future })).toMatchObject(invalid("as_of_time"));
    expect(await ask({ asOfRevision: "soon" })).toMatchObject(invalid("as_of_revision"));
    expect(await ask({ asOfRevision: nextRevision(await headOf(place)) })).toMatchObject(invalid("as_of_revision"));
    expect(await ask({ asOfRevision: other.org.etag })).toMatchObject(invalid("as_of_revision"));
    expect(await ask({ asOfRevision: granted, resourcePath: other.web })).toMatchObject(invalid("resource_path"));
    const checks = [granted, before].map((asOfRevision) => ({ ...check, asOfRevision }));
    expect(await failureOf(access.batchCheckAccess({ checks }))).toMatchObject(invalid("checks[1].as_of_revision"));
    const contents = {
      subjectPath: alice,
      permission,
      parentPath: org.path,
      kind: ListResourcesRequest_Kind.RESOURCE,
      asOfRevision: granted,
    };
    expect(await failureOf(access.listResources(contents))).toMatchObject(invalid("kind"));
    const past = timestampFromDate(new Date(0));
    expect(await ask({ asOfTime: past })).toMatchObject({ code: "OutOfRange" });
  });
});

test("predefined roles have the permissions of then, which the servers note that start with others", async () => {
  const place = await open(purging);
  const { access, org, bob } = place;
  await place.grant(org.path, bob, "/roles/viewer");
  const versions = async () => (await sql.query("select permissions from past_roles")).length;
  const note = (permissions: readonly string[]) =>
    notePredefinedRoles(states.database, [{ name: "viewer", permissions }], { warn: expect.unreachable });
  const before = await headOf(place);
  const [noted] = await sql.query("select permissions ->> 'owner' as owner from past_roles");
  expect([noted, await versions()]).toEqual([{ owner: "*" }, 1]);
  for (let start = 0; start < 2; start++) await note(["iam.orgs.get"]);
  expect(await versions()).toBe(2);
  await place.grant(place.web, bob, "/roles/provider");
  const between = await headOf(place);
  await sql.query("insert into past_roles select clock_timestamp(), permissions from past_roles order by time limit 1");
  // A time of the request has milliseconds, and the row of the roles microseconds.
  await new Promise((resolve) => setTimeout(resolve, 2));
  const now = timestampFromDate(new Date());
  const mayAt = async (asked: object) =>
    (await access.checkAccess({ subjectPath: bob, permission: "iam.members.get", resourcePath: org.path, ...asked }))
      .allowed;
  expect(await mayAt({})).toBe(true);
  expect(await mayAt({ asOfRevision: before })).toBe(true);
  expect(await mayAt({ asOfRevision: between })).toBe(false);
  // Of the same revision, at another time.
  expect(await mayAt({ asOfTime: now })).toBe(true);
});

test("a page goes on at the moment of the first one", async () => {
  const place = await open(purging);
  const { access, org } = place;
  await place.grant(org.path, place.alice, "/roles/editor");
  await place.grant(org.path, place.bob, "/roles/editor");
  const asOfRevision = await headOf(place);
  const request = { permission, resourcePath: org.path, pageSize: 1, asOfRevision };
  const first = await access.listSubjects(request);
  await place.api.members.deleteMember({ path: place.bob });
  const second = await access.listSubjects({ ...request, pageToken: first.nextPageToken });
  expect([...first.subjectPaths, ...second.subjectPaths]).toEqual([place.alice, place.bob]);
  const now = access.listSubjects({ ...request, asOfRevision: "", pageToken: first.nextPageToken });
  expect(await failureOf(now)).toMatchObject({ code: "InvalidArgument" });
});

test("conditions are shown as of then to who may get the bindings now, where they are", async () => {
  const company = await openCompany("gRPC", server);
  const { api, org } = company;
  const alice = await company.join("alice");
  const reader = await company.joinAs("access-admin", "reader");
  await company.bind(org.path, "/roles/viewer", reader);
  const condition = "context.secret == 'sister'";
  for (const parentPath of [org.customerPath, org.path]) {
    const roleBinding = { name: uniqueName("never"), rolePath: "/roles/editor", subjectPath: alice.path, condition };
    await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  }
  const question = { subjectPath: alice.path, permission: "iam.projects.update", resourcePath: org.path };
  const { revision: asOfRevision } = await reader.access.checkAccess(question);
  const shown = async (request: object): Promise<Record<string, string>> => {
    const { conditionalGrants } = await reader.access.explainAccess({ ...question, ...request });
    return Object.fromEntries(
      conditionalGrants.map((each) => [each.roleBindingPath.split("/roleBindings/")[0], each.condition]),
    );
  };
  const now = await shown({});
  expect(now).toEqual({ [org.customerPath]: "", [org.path]: condition });
  expect(await shown({ asOfRevision })).toEqual(now);
});

test("a role binding has the name of then, also if it was renamed before or since, or went with its subject", async () => {
  const company = await openCompany("gRPC", server);
  const { api, org, access } = { ...company, access: (await company.joinAs("owner", "olive")).access };
  const alice = await company.join("alice");
  const roleBinding = { name: "first", rolePath: "/roles/viewer", subjectPath: alice.path };
  const { path } = await api.roleBindings.createRoleBinding({ parentPath: org.path, roleBinding });
  const question = { subjectPath: alice.path, permission: "iam.members.get", resourcePath: org.path };
  const revisions = [(await access.checkAccess(question)).revision];
  let last = path;
  for (const name of ["second", "third"]) {
    ({ path: last } = await api.roleBindings.updateRoleBinding({ path: last, roleBinding: { name } }));
    revisions.push((await access.checkAccess(question)).revision);
  }
  const names = () =>
    Promise.all(
      revisions.map(async (asOfRevision) => {
        const { grants } = await access.explainAccess({ ...question, asOfRevision });
        return grants.map(({ roleBindingPath }) => roleBindingPath.split("/").at(-1));
      }),
    );
  expect(await names()).toEqual([["first"], ["second"], ["third"]]);
  await api.roleBindings.deleteRoleBinding({ path: last });
  expect(await names()).toEqual([["first"], ["second"], ["third"]]);
});

test("who asks must hold the permission of the method and that to read the log, on the org and now", async () => {
  const company = await openCompany("gRPC", server);
  const { api, org } = company;
  const parentPath = org.path;
  const role = async (...permissions: string[]) =>
    (await api.roles.createRole({ parentPath, role: { name: uniqueName("role"), permissions } })).path;
  const [asker, reader] = [await company.join("asker"), await company.join("reader")];
  await company.bind(parentPath, await role("iam.access.check"), asker);
  const reading = await company.bind(parentPath, await role("iam.access.check", "iam.changes.list"), reader);
  const question = { subjectPath: asker.path, permission: "iam.access.check", resourcePath: parentPath };
  const { revision: asOfRevision } = await asker.access.checkAccess(question);
  expect(await failureOf(asker.access.checkAccess({ ...question, asOfRevision }))).toMatchObject({
    code: "PermissionDenied",
  });
  expect(await reader.access.checkAccess({ ...question, asOfRevision })).toMatchObject({ allowed: true });
  await api.roleBindings.deleteRoleBinding({ path: reading });
  expect(await failureOf(reader.access.checkAccess({ ...question, asOfRevision }))).toMatchObject({
    code: "PermissionDenied",
  });
  // To another customer, the org does not exist.
  const stranger = await (await openCompany("gRPC", server)).joinAs("owner");
  const answers = [parentPath, "/orgs/no-such-org"].map((path) =>
    stranger.access
      .checkAccess({ ...question, subjectPath: `${path}/members/asker`, resourcePath: path, asOfRevision })
      .catch((error: unknown) => ConnectError.from(error).code),
  );
  const [there, notThere] = await Promise.all(answers);
  expect(there).toEqual(notThere);
});

test("after the log was cut, what it cannot tell is refused, with the oldest moment, and the rest is answered", async () => {
  const place = await open(purging);
  const { api, access, org, alice, bob, sre, web } = place;
  const carol = await api.members.createMember({ parentPath: org.path, member: { name: "carol" } });
  const binding = await place.grant(web, sre, "/roles/editor");
  await place.grant(web, carol.path, "/roles/editor");
  const lost = await headOf(place);
  await api.projects.createProject({ parentPath: org.path, project: { name: "later" } });
  // Each moment is read once, since what was read is kept for a minute.
  const oldest = await headOf(place);
  await api.projects.createProject({ parentPath: org.path, project: { name: "still-later" } });
  const second = await headOf(place);
  await api.projects.createProject({ parentPath: org.path, project: { name: "last" } });
  const third = await headOf(place);
  await sql.query("delete from changes where org_id = $1 and revision < $2", [org.id, oldest]);

  await api.roleBindings.deleteRoleBinding({ path: binding });
  expect([await place.may(alice, web), await mayAsOf(place, alice, web, oldest)]).toEqual([false, true]);
  const expired = await failureOf(mayAsOf(place, alice, web, lost));
  expect(expired).toMatchObject({
    code: "OutOfRange",
    reason: "REVISION_EXPIRED",
    metadata: { oldest_revision: oldest },
  });

  await api.members.deleteMember({ path: carol.path });
  await api.members.purgeMember({ path: `${org.path}/members/@${carol.id}` });
  const count = () => sql.query("select from members where id = $1", [carol.id]).then(({ length }) => length);
  await expect.poll(count).toBe(0);
  expect(await mayAsOf(place, alice, web, second)).toBe(true);
  expect(await failureOf(mayAsOf(place, carol.path, web, second))).toMatchObject({ reason: "REVISION_EXPIRED" });

  await api.groups.deleteGroup({ path: sre });
  const { revision } = await access.checkAccess({ subjectPath: bob, permission, resourcePath: web });
  const since = await failureOf(mayAsOf(place, alice, web, third));
  expect(since).toMatchObject({ reason: "REVISION_EXPIRED", metadata: { oldest_revision: revision } });
  expect(await mayAsOf(place, alice, web, revision)).toBe(false);
});
