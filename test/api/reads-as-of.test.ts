// Tests that Get and List answer as of an earlier moment.
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { services } from "../../src/rpc/services.ts";
import { pastTypes } from "../../src/standard-methods/past/past-tables.ts";
import { methodNouns } from "../../src/paths/patterns.ts";
import { required } from "../../src/errors/required.ts";
import { openCompany } from "../access/callers.ts";
import { type AccessPlace, createAccessPlace } from "../support/access-place.ts";
import { type Api, uniqueName } from "../support/api.ts";
import { createBeforeEnd } from "../support/create-before-end.ts";
import { createPick } from "../support/create-pick.ts";
import { failureOf } from "../support/failure.ts";
import { createRandomHistory } from "../support/random-history.ts";
import { type StatesOfOrgs, openStates } from "../support/keep-states.ts";
import { seeds } from "../support/rounds.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";

let server: SharedServer;
/** Purges at once, and has the log that is cut. */
let purging: TestServer;
let sql: SqlClient;
let states: StatesOfOrgs;
beforeAll(async () => {
  server = await sharedServer();
  purging = await startTestServer({ purgeIntervalMs: 400 });
  sql = await openSqlClient(purging.databaseUrl);
  states = openStates(purging.databaseUrl);
});
afterAll(async () => {
  await states.close();
  await sql.close();
  await purging.close();
});

const open = (on: SharedServer) => createAccessPlace("gRPC", on.url, on.operatorKey);

/** What a list answers. How many there are in all is told of now only. */
interface Answer {
  readonly revision: string;
  readonly totalSize?: undefined;
}

interface Page {
  readonly pageSize: number;
  readonly asOfRevision: string;
}

/** The lists that can be read as they were. A filter and an order are those of now, too. */
const lists: readonly ((api: Api, parentPath: string, page: Page) => Promise<{ readonly revision: string }>)[] = [
  ({ members }, parentPath, page) => members.listMembers({ ...page, parentPath, showDeleted: true }),
  ({ members }, parentPath, page) => {
    const filter = "state = ACTIVE AND NOT name = alice";
    return members.listMembers({ ...page, parentPath, filter, orderBy: "name desc" });
  },
  ({ groups }, parentPath, page) => groups.listGroups({ ...page, parentPath }),
  ({ projects }, parentPath, page) => projects.listProjects({ ...page, parentPath, showDeleted: true }),
  ({ roles }, parentPath, page) => roles.listRoles({ ...page, parentPath }),
  ({ groupMembers }, org, page) => groupMembers.listGroupMembers({ ...page, parentPath: `${org}/groups/-` }),
  ({ groupMembers }, org, page) => groupMembers.listSubgroups({ ...page, parentPath: `${org}/groups/-` }),
  ({ roleBindings }, parentPath, page) => roleBindings.listRoleBindings({ ...page, parentPath }),
  ({ roleBindings }, org, page) => roleBindings.listRoleBindings({ ...page, parentPath: `${org}/projects/-` }),
];

/** Asks one of the lists, of now or as of a revision. */
async function ask({ api, org }: AccessPlace, list: number, asOfRevision = ""): Promise<Answer> {
  const answer = await required(lists[list])(api, org.path, { pageSize: 1000, asOfRevision });
  return { ...answer, totalSize: undefined };
}

/** What the lists answered at a revision. */
interface Recorded {
  readonly revision: string;
  readonly answers: readonly Answer[];
}

/** Writes an org until it has had so many revisions whose answers are recorded, and keeps the states of some of them. */
async function recordHistory(
  place: AccessPlace,
  pick: (count: number) => number,
  revisions: number,
): Promise<readonly Recorded[]> {
  const { api, org } = place;
  const history = createRandomHistory(api, org.path, { pickNumber: pick });
  const recorded: Recorded[] = [];
  while (recorded.length < revisions) {
    if (!(await history.write())) continue;
    const answers = await Promise.all(lists.map((_, list) => ask(place, list)));
    const [revision = "", ...others] = new Set(answers.map((answer) => answer.revision));
    // A purge comes by itself, also between two answers.
    if (others.length > 0) continue;
    recorded.push({ revision, answers });
    if (pick(4) === 0) expect(await states.keep(org.id, revision)).toBe(true);
  }
  return recorded;
}

// At once, since each mostly waits for its turn.
test.concurrent.each(seeds(1, 1_000))(
  "lists as of each revision of a random history are those that were given then (%s)",
  async (seed) => {
    const place = await open(purging);
    const pick = createPick(seed);
    const recorded = await recordHistory(place, pick, 5 + pick(1 + pick(1 + pick(56))));
    // All of them have changed at the first revision, and after the last one.
    const hasChanged = (index: number, list: number): boolean => {
      const [before, after] = [recorded[index - 1], recorded[index]].map((each) => each?.answers[list]);
      return !isDeepStrictEqual({ ...before, revision: "" }, { ...after, revision: "" });
    };
    for (const isKept of [true, false]) {
      if (!isKept) await states.remove(place.org.id);
      for (const [index, { revision, answers }] of recorded.entries()) {
        // Each revision is read in one of the two ways, and in the other way for another seed.
        if ((index + seed) % 2 === (isKept ? 0 : 1)) continue;
        // Of the lists that do not change here or at the next revision, one.
        const also = pick(lists.length);
        for (const [list, answer] of answers.entries()) {
          if (list !== also && !hasChanged(index, list) && !hasChanged(index + 1, list)) continue;
          expect(await ask(place, list, revision)).toEqual(answer);
        }
      }
    }
  },
);

test("what can be read as it was has the fields that ask for it, in Get and List, and nothing else", () => {
  const taking = services.flatMap(({ methods }) =>
    methods.filter(
      ({ name, input }) => /^(Get|List)/.test(name) && input.fields.some((field) => field.name === "as_of_time"),
    ),
  );
  const wanted = pastTypes.flatMap((type) => {
    const { one, many } = methodNouns(type);
    return [`Get${one}`, `List${many}`];
  });
  const ofAccess = ["ListResources", "ListSubjects"];
  expect(new Set(taking.map(({ name }) => name))).toEqual(new Set([...wanted, ...ofAccess]));
});

/** Returns the head of an org. */
const headOf = async ({ api, org }: Pick<AccessPlace, "api" | "org">): Promise<string> =>
  (await api.members.listMembers({ parentPath: org.path })).revision;

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  test("each resource has the name and fields of then, also if something else has its path now", async () => {
    const { api, org } = await createAccessPlace(protocol, server.url, server.operatorKey);
    const parentPath = org.path;
    const member = await api.members.createMember({ parentPath, member: { name: "dora", displayName: "Dora" } });
    const group = await api.groups.createGroup({ parentPath, group: { name: "devs" } });
    const groupMember = { memberPath: member.path };
    const membership = await api.groupMembers.createGroupMember({ parentPath: group.path, groupMember });
    const asOfRevision = await headOf({ api, org });
    await api.members.updateMember({ path: member.path, member: { name: "dorothy", displayName: "Dorothy" } });
    await api.members.createMember({ parentPath, member: { name: "dora", displayName: "Another one" } });
    await api.groups.deleteGroup({ path: group.path });

    expect(await api.members.getMember({ path: member.path, asOfRevision })).toEqual(member);
    const byId = `${parentPath}/members/@${member.id}`;
    expect(await api.members.getMember({ path: byId, asOfRevision })).toEqual(member);
    expect(await api.groups.getGroup({ path: group.path, asOfRevision })).toEqual(group);
    expect(await api.groupMembers.getGroupMember({ path: membership.path, asOfRevision })).toEqual(membership);
    const listed = await api.groupMembers.listGroupMembers({ parentPath: group.path, asOfRevision });
    expect(listed).toMatchObject({ members: [membership], revision: asOfRevision });
    const later = await failureOf(api.members.getMember({ path: `${parentPath}/members/dorothy`, asOfRevision }));
    expect(later).toMatchObject({ code: "NotFound" });
    const nowhere = api.groupMembers.listGroupMembers({ parentPath: `${parentPath}/groups/none`, asOfRevision });
    expect(await failureOf(nowhere)).toMatchObject({ code: "NotFound" });
  });

  test("what had expired by a time is there until then", async () => {
    const { created, expireTime, lastTime } = await createBeforeEnd(async (end) => {
      const place = await createAccessPlace(protocol, server.url, server.operatorKey);
      const { api, bob, sre, web } = place;
      const binding = await place.grant(web, bob, "/roles/editor", { expireTime: end });
      const groupMember = { memberPath: bob, expireTime: end };
      const { path } = await api.groupMembers.createGroupMember({ parentPath: sre, groupMember });
      return { api, sre, web, binding, path, asOfRevision: await headOf(place) };
    });
    const { api, sre, web, binding, path, asOfRevision } = created;
    const bindingsAt = async (asked: object) =>
      (await api.roleBindings.listRoleBindings({ parentPath: web, ...asked })).roleBindings.map((each) => each.path);
    const membersAt = async (asked: object) =>
      (await api.groupMembers.listGroupMembers({ parentPath: sre, ...asked })).members.map((each) => each.path);
    await expect.poll(() => bindingsAt({})).toEqual([]);
    await expect.poll(() => membersAt({})).not.toContain(path);
    for (const asked of [{ asOfRevision }, { asOfTime: lastTime }]) {
      expect(await bindingsAt(asked)).toEqual([binding]);
      expect(await membersAt(asked)).toContain(path);
    }
    expect(await bindingsAt({ asOfTime: expireTime })).toEqual([]);
    expect(await membersAt({ asOfTime: expireTime })).not.toContain(path);
  });

  test("mistakes are refused with the field", async () => {
    const place = await createAccessPlace(protocol, server.url, server.operatorKey);
    const { api, org } = place;
    const [asOfRevision, asOfTime] = [await headOf(place), timestampFromDate(new Date())];
    const future = timestampFromDate(new Date(Date.now() + 86_400_000));
    const other = await createAccessPlace(protocol, server.url, server.operatorKey);
    const list = (fields: object) => failureOf(api.members.listMembers({ parentPath: org.path, ...fields }));
    const invalid = (field: string) => ({ code: "InvalidArgument", fields: [field] });
    expect(await list({ asOfRevision, asOfTime })).toMatchObject(invalid("as_of_time"));
    expect(await list({ asOfTime: future })).toMatchObject(invalid("as_of_time"));
    expect(await list({ asOfRevision: "soon" })).toMatchObject(invalid("as_of_revision"));
    expect(await list({ asOfRevision: other.org.etag })).toMatchObject(invalid("as_of_revision"));
    expect(await list({ asOfRevision, filter: "colour = red" })).toMatchObject(invalid("filter"));
    expect(await list({ asOfTime: timestampFromDate(new Date(0)) })).toMatchObject({ code: "OutOfRange" });
    expect(await list({ asOfTime, parentPath: "/orgs/-" })).toMatchObject(invalid("as_of_time"));
    const { customerPath } = org;
    const elsewhere = [
      () => api.roleBindings.listRoleBindings({ parentPath: customerPath, asOfRevision }),
      () => api.roles.getRole({ path: "/roles/viewer", asOfRevision }),
      () => api.roles.listRoles({ parentPath: "", asOfRevision }),
    ];
    for (const each of elsewhere) expect(await failureOf(each())).toMatchObject(invalid("as_of_revision"));
  });
});

test("all pages are of the revision of the first one, and a token is for its moment", async () => {
  const place = await open(server);
  const { api, org } = place;
  // A time of the request has milliseconds, and that of the head microseconds.
  await sleep(2);
  const asOfTime = timestampFromDate(new Date());
  const asOfRevision = await headOf(place);
  const request = { parentPath: org.path, pageSize: 1, orderBy: "name desc" };
  for (const asked of [{ asOfRevision }, { asOfTime }]) {
    const names: string[] = [];
    let pageToken = "";
    do {
      const page = await api.members.listMembers({ ...request, ...asked, pageToken });
      expect(page.revision).toBe(asOfRevision);
      names.push(...page.members.map(({ name }) => name));
      pageToken = page.nextPageToken;
      await api.members.createMember({ parentPath: org.path, member: { name: uniqueName("between") } });
    } while (pageToken !== "");
    expect(names).toEqual(["bob", "alice"]);
  }
  const { nextPageToken: pageToken } = await api.members.listMembers({ ...request, asOfRevision });
  const refused = { code: "InvalidArgument", reason: "PAGE_TOKEN_INVALID" };
  expect(await failureOf(api.members.listMembers({ ...request, pageToken }))).toMatchObject(refused);
  expect(await failureOf(api.members.listMembers({ ...request, asOfTime, pageToken }))).toMatchObject(refused);
});

test("who asks must hold the permission of the method and that to read the log, on the org and now, which is in the log", async () => {
  const company = await openCompany("gRPC", server);
  const { api, org } = company;
  const parentPath = org.path;
  const role = async (...permissions: string[]) =>
    (await api.roles.createRole({ parentPath, role: { name: uniqueName("role"), permissions } })).path;
  const [lister, reader] = [await company.join("lister"), await company.join("reader")];
  await company.bind(parentPath, await role("iam.members.list"), lister);
  const reading = await company.bind(parentPath, await role("iam.members.list", "iam.changes.list"), reader);
  const asOfRevision = await headOf({ api, org });
  const listAs = ({ members }: Api) => members.listMembers({ parentPath, asOfRevision });
  expect(await failureOf(listAs(lister))).toMatchObject({ code: "PermissionDenied" });
  expect((await listAs(reader)).members.map(({ name }) => name)).toEqual(["lister", "reader"]);
  const get = reader.members.getMember({ path: lister.path, asOfRevision });
  expect(await failureOf(get)).toMatchObject({ code: "PermissionDenied" });
  const { changes } = await api.changes.listChanges({ parentPath, filter: "type = READ" });
  const readers = changes.map(({ actorPath }) => actorPath);
  expect(readers.filter((path) => path.startsWith(parentPath))).toEqual([reader.path]);
  await api.roleBindings.deleteRoleBinding({ path: reading });
  expect(await failureOf(listAs(reader))).toMatchObject({ code: "PermissionDenied" });
  const stranger = await (await openCompany("gRPC", server)).joinAs("owner");
  const [there, notThere] = await Promise.all(
    [parentPath, "/orgs/no-such-org"].map((path) =>
      failureOf(stranger.members.listMembers({ parentPath: path, asOfRevision })),
    ),
  );
  expect(there?.code).toEqual(notThere?.code);
});

test("a condition on a path does not hold for what is below the org, which may have had another path", async () => {
  const company = await openCompany("gRPC", server);
  const { api, org } = company;
  const parentPath = org.path;
  const permissions = ["iam.members.get", "iam.groupMembers.list", "iam.changes.list"];
  const { path: role } = await api.roles.createRole({ parentPath, role: { name: "reading", permissions } });
  const { path: secret } = await api.groups.createGroup({ parentPath, group: { name: "secret" } });
  const reader = await company.join("reader");
  const agent = await company.join("agent");
  await company.bind(parentPath, role, reader, `!resource.path.contains("secret") && !resource.path.contains("agent")`);
  const asOfRevision = await headOf({ api, org });
  const denied = { code: "PermissionDenied" };
  for (const asked of [{}, { asOfRevision }]) {
    expect(await failureOf(reader.members.getMember({ path: agent.path, ...asked }))).toMatchObject(denied);
    const list = reader.groupMembers.listGroupMembers({ parentPath: secret, ...asked });
    expect(await failureOf(list)).toMatchObject(denied);
  }
});

test("what is in a project that is or was suspended is for those who may activate it", async () => {
  const company = await openCompany("gRPC", server);
  const { api, org } = company;
  const parentPath = org.path;
  const permissions = ["iam.roleBindings.list", "iam.roleBindings.get", "iam.changes.list"];
  const { path: auditing } = await api.roles.createRole({ parentPath, role: { name: "auditing", permissions } });
  const auditor = await company.join("auditor");
  await company.bind(parentPath, auditing, auditor);
  const [open_, shut] = await Promise.all(
    ["open", "shut"].map(async (name) => (await api.projects.createProject({ parentPath, project: { name } })).path),
  );
  const [inOpen, inShut] = [open_, shut].map(required) as [string, string];
  const bindings = [await company.bind(inOpen, "viewer", auditor), await company.bind(inShut, "viewer", auditor)];
  const active = await headOf({ api, org });
  await api.projects.suspendProject({ path: inShut });
  const suspended = await headOf({ api, org });
  const pathsAs = async ({ roleBindings }: Api, asOfRevision: string) => {
    const page = await roleBindings.listRoleBindings({ parentPath: `${parentPath}/projects/-`, asOfRevision });
    return page.roleBindings.map(({ path }) => path);
  };
  const isDenied = async () => {
    for (const asOfRevision of [active, suspended]) {
      const list = auditor.roleBindings.listRoleBindings({ parentPath: inShut, asOfRevision });
      expect(await failureOf(list)).toMatchObject({ code: "PermissionDenied" });
      const get = auditor.roleBindings.getRoleBinding({ path: required(bindings[1]), asOfRevision });
      expect(await failureOf(get)).toMatchObject({ code: "PermissionDenied" });
      expect(await pathsAs(auditor, asOfRevision)).toEqual([bindings[0]]);
      expect((await pathsAs(api, asOfRevision)).toSorted()).toEqual(bindings.toSorted());
    }
  };
  await isDenied();
  await api.projects.activateProject({ path: inShut });
  expect((await pathsAs(auditor, active)).toSorted()).toEqual(bindings.toSorted());
  expect(await pathsAs(auditor, suspended)).toEqual([bindings[0]]);
});

test("who was erased is in the lists of then without what was erased", async () => {
  const place = await open(purging);
  const { api, org, sre } = place;
  const member = { name: "carol", displayName: "Carol Jones" };
  const { path, id } = await api.members.createMember({ parentPath: org.path, member });
  await api.groupMembers.createGroupMember({ parentPath: sre, groupMember: { memberPath: path } });
  const asOfRevision = await headOf(place);
  expect(await states.keep(org.id, asOfRevision)).toBe(true);
  await api.members.deleteMember({ path });
  const erased = `${org.path}/members/@${id}`;
  await api.members.purgeMember({ path: erased });
  await expect.poll(() => sql.query("select from members where id = $1", [id]).then(({ length }) => length)).toBe(0);
  await api.members.eraseMember({ path: erased });
  expect(await sql.query("select from past_states where org_id = $1", [org.id])).toEqual([]);
  const { members } = await api.members.listMembers({ parentPath: org.path, asOfRevision });
  const memberships = await api.groupMembers.listGroupMembers({ parentPath: sre, asOfRevision });
  expect(
    JSON.stringify([members, memberships], (_, value: unknown) => (typeof value === "bigint" ? "" : value)),
  ).not.toMatch(/carol/i);
});

test("after the log was cut, what it cannot tell is refused, and the rest is answered", async () => {
  const place = await open(purging);
  const { api, org, sre, web } = place;
  const carol = await api.members.createMember({ parentPath: org.path, member: { name: "carol" } });
  await api.groupMembers.createGroupMember({ parentPath: sre, groupMember: { memberPath: carol.path } });
  const binding = await place.grant(web, carol.path, "/roles/editor");
  const lost = await headOf(place);
  expect(await states.keep(org.id, lost)).toBe(true);
  await api.projects.createProject({ parentPath: org.path, project: { name: "later" } });
  const oldest = await headOf(place);
  await sql.query("delete from changes where org_id = $1 and revision < $2", [org.id, oldest]);
  const listAt = (asOfRevision: string) => api.members.listMembers({ parentPath: org.path, asOfRevision });
  expect(await failureOf(listAt(lost))).toMatchObject({
    code: "OutOfRange",
    reason: "REVISION_EXPIRED",
    metadata: { oldest_revision: oldest },
  });
  const namesAt = async (asOfRevision: string) => (await listAt(asOfRevision)).members.map(({ name }) => name);
  expect(await namesAt(oldest)).toEqual(["alice", "bob", "carol"]);

  await api.members.deleteMember({ path: carol.path });
  await api.members.purgeMember({ path: `${org.path}/members/@${carol.id}` });
  await expect
    .poll(() => sql.query("select from members where id = $1", [carol.id]).then(({ length }) => length))
    .toBe(0);
  // The log no longer has what she was in.
  expect(await namesAt(oldest)).toEqual(["alice", "bob"]);
  const memberships = await api.groupMembers.listGroupMembers({ parentPath: sre, asOfRevision: oldest });
  expect(memberships.members.map(({ name }) => name)).toEqual(["alice"]);
  for (const path of [carol.path, `${org.path}/members/@${carol.id}`]) {
    const get = api.members.getMember({ path, asOfRevision: oldest });
    expect(await failureOf(get)).toMatchObject({ reason: "REVISION_EXPIRED" });
  }
  const gone = api.roleBindings.getRoleBinding({ path: binding, asOfRevision: oldest });
  expect(await failureOf(gone)).toMatchObject({ code: "NotFound" });

  await api.groups.deleteGroup({ path: sre });
  const all = api.groups.listGroups({ parentPath: org.path, asOfRevision: oldest });
  expect(await failureOf(all)).toMatchObject({ reason: "REVISION_EXPIRED" });
});
