// Tests the list of changes: what it shows, to whom, by which filters, and on which pages.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Change, Change_Source, Change_Type, Change_View } from "../../gen/iam/v1alpha/change_pb.ts";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { checkChains } from "../../src/changes/verify-chain.ts";
import { required } from "../../src/errors/required.ts";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { fillTables } from "../support/maintain.ts";
import { createPastMonths } from "../support/past-months.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { openSqlClient } from "../support/sql.ts";
import { overFirst, protocols } from "../support/transports.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

interface Request {
  readonly parentPath: string;
  readonly filter?: string;
  readonly orderBy?: string;
  readonly view?: Change_View;
}

/** Returns all changes, over pages of this size, with those that say who has read the log. */
async function listEach(api: Pick<Api, "changes">, request: Request, pageSize = 1000): Promise<Change[]> {
  const changes: Change[] = [];
  let pageToken = "";
  do {
    const page = await api.changes.listChanges({ ...request, pageSize, pageToken });
    changes.push(...page.changes);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return changes;
}

/** Returns them without those. */
const listAll = async (...args: Parameters<typeof listEach>): Promise<Change[]> =>
  (await listEach(...args)).filter(({ type }) => type !== Change_Type.READ);

const typeNames = new Map<number, string>(Object.entries(Change_Type).map(([name, number]) => [number, name]));

const summary = ({ type, resourcePath }: Change): string => `${typeNames.get(type)} ${resourcePath}`;

describe.each(overFirst(protocols))("over %s, the log of an org", (protocol) => {
  let company: Company;
  let api: Api;
  let owner: Caller;
  let parentPath: string;
  let memberPath: string;
  beforeAll(async () => {
    company = await openCompany(protocol, server);
    ({ api } = company);
    parentPath = company.org.path;
    owner = await company.joinAs("owner");
    const member = await owner.members.createMember({ parentPath, member: { name: "alice", labels: { team: "a" } } });
    memberPath = member.path;
    await owner.apiKeys.createApiKey({ parentPath: memberPath, apiKey: { name: "ci" } });
    await owner.members.updateMember({ path: memberPath, member: { labels: { team: "b" } } });
    await owner.members.updateMember({ path: memberPath, member: { name: "alice2" } });
    memberPath = `${parentPath}/members/alice2`;
    await owner.groups.createGroup({ parentPath, group: { name: "devs" } });
    await owner.groupMembers.createGroupMember({
      parentPath: `${parentPath}/groups/devs`,
      groupMember: { memberPath },
    });
    await owner.groups.deleteGroup({ path: `${parentPath}/groups/devs` });
  });

  test("says what was done, when, by whom, and what it was before and after", async () => {
    const changes = await listAll(owner, { parentPath, orderBy: "time" });
    expect(changes.map(summary)).toEqual([
      `CREATED ${parentPath}`,
      `CREATED ${owner.path}`,
      expect.stringMatching(/^CREATED .*\/members\/owner\/apiKeys\/ci$/),
      expect.stringMatching(/^CREATED .*\/roleBindings\//),
      `CREATED ${parentPath}/members/alice`,
      `CREATED ${parentPath}/members/alice/apiKeys/ci`,
      `UPDATED ${parentPath}/members/alice`,
      `UPDATED ${parentPath}/members/alice`,
      `CREATED ${parentPath}/groups/devs`,
      `CREATED ${parentPath}/groups/devs/members/alice2`,
      `DELETED ${parentPath}/groups/devs`,
    ]);
    const relabelled = required(changes[6]);
    expect(relabelled).toMatchObject({
      orgPath: parentPath,
      position: 0,
      method: "iam.v1alpha.MembersService/UpdateMember",
      resourceType: "Member",
      actorPath: owner.path,
      impersonatorPath: "",
      source: Change_Source.CALL,
      before: { labels: { team: "a" }, name: "alice" },
      after: { labels: { team: "b" }, name: "alice", path: `${parentPath}/members/alice` },
      changedFields: ["labels"],
    });
    expect(relabelled.credentialId).not.toBe("");
    expect(relabelled.remoteAddress).toMatch(/^(::ffff:)?127\.0\.0\.1$|^::1$/);
    const now = await owner.members.getMember({ path: memberPath });
    const renamed = { etag: now.etag, id: now.id, name: "alice2", path: memberPath, type: "USER" };
    expect(changes[7]).toMatchObject({ after: renamed, changedFields: ["path", "name"] });
    expect(changes[7]?.revision).toBe(now.etag);
    expect(changes[10]).toMatchObject({ before: { name: "devs" }, changedFields: [] });
    expect(changes[10]?.after).toBeUndefined();
    const times = changes.map(({ time }) => timestampDate(required(time)).getTime());
    expect(times.toSorted((one, other) => one - other)).toEqual(times);
  });

  test("is listed the latest first by default, and over pages without a gap", async () => {
    const [oldest, latest] = [
      await listAll(owner, { parentPath, orderBy: "time" }),
      await listAll(owner, { parentPath }),
    ];
    expect(latest).toEqual(oldest.toReversed());
    expect(await listAll(owner, { parentPath, orderBy: "time" }, 2)).toEqual(oldest);
    expect(await listAll(owner, { parentPath }, 3)).toEqual(latest);
  });

  test.each([
    ['method = "iam.v1alpha.GroupsService/DeleteGroup"', ["DELETED groups/devs"]],
    ['resource_type = "GroupMember"', ["CREATED groups/devs/members/alice2"]],
    ["type = DELETED", ["DELETED groups/devs"]],
    ['type = UPDATED AND resource_type = "Member"', ["UPDATED members/alice", "UPDATED members/alice"]],
    [
      'resource_path = "{org}/members/alice2"',
      ["CREATED members/alice", "UPDATED members/alice", "UPDATED members/alice"],
    ],
    [
      'resource_path:"{org}/members/alice2"',
      ["CREATED members/alice", "CREATED members/alice/apiKeys/ci", "UPDATED members/alice", "UPDATED members/alice"],
    ],
    ['resource_path = "{org}/members/alice2/apiKeys/ci"', ["CREATED members/alice/apiKeys/ci"]],
    // The name is free.
    ['resource_path:"{org}/members/alice"', []],
    ['resource_path:"{org}/groups/devs"', []],
    ['actor_path = "{org}/members/alice2"', []],
    ['actor_path:"{org}/members/owner" AND resource_type = "Group"', ["CREATED groups/devs", "DELETED groups/devs"]],
    ["time < 2020-01-01T00:00:00Z", []],
    ['NOT resource_path:"{org}"', []],
  ])("is filtered by %s", async (filter, expected) => {
    const changes = await listAll(owner, {
      parentPath,
      filter: filter.replaceAll("{org}", parentPath),
      orderBy: "time",
    });
    expect(changes.map(summary).map((line) => line.replace(`${parentPath}/`, ""))).toEqual(expected);
  });

  test("finds what was deleted by its id, and a revision", async () => {
    const [deleted] = await listAll(owner, { parentPath, filter: "type = DELETED" });
    const { resourceId, revision } = required(deleted);
    const filter = `resource_path:"${parentPath}/groups/@${resourceId}"`;
    expect(await listAll(owner, { parentPath, filter })).toHaveLength(3);
    expect(await listAll(owner, { parentPath, filter: `revision = "${revision}"` })).toEqual([deleted]);
    expect(await listAll(owner, { parentPath, filter: `revision >= "${revision}"` })).toEqual([deleted]);
  });

  test("refuses what is no path, or another comparator, and other orders", async () => {
    const fail = (request: object) => failureOf(owner.changes.listChanges({ parentPath, ...request }));
    expect(await fail({ filter: 'resource_path = "nowhere"' })).toMatchObject({ reason: "PATH_INVALID" });
    expect(await fail({ filter: 'actor_path < "/orgs/a/members/b"' })).toMatchObject({ reason: "FIELD_INVALID" });
    expect(await fail({ filter: 'resource_path = "/orgs/*"' })).toMatchObject({ reason: "FIELD_INVALID" });
    expect(await fail({ orderBy: "method" })).toMatchObject({ reason: "FIELD_INVALID" });
  });

  test("is proved by its entries, and by nothing in a basic view", async () => {
    const proved = await listEach(owner, { parentPath, orderBy: "time", view: Change_View.PROVED });
    const chains = checkChains();
    const faults = proved.map(({ proof }) => chains.add(required(proof)));
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
    expect(proved.every(({ proof }) => proof?.texts["resource_path"] !== undefined)).toBe(true);
    const [basic] = await listAll(owner, { parentPath, view: Change_View.BASIC });
    expect([basic?.before, basic?.after, basic?.proof]).toEqual([undefined, undefined, undefined]);
  });

  test("shows what a resource was to who may get it, and the rest to who may list changes", async () => {
    const auditor = await company.join("auditor");
    expect(await failureOf(auditor.changes.listChanges({ parentPath }))).toMatchObject({ reason: "PERMISSION_DENIED" });
    const role = { name: uniqueName("auditing"), permissions: ["iam.changes.list", "iam.groups.get"] };
    const { path: rolePath } = await api.roles.createRole({ parentPath, role });
    await company.bind(parentPath, rolePath, auditor);
    const changes = await listEach(auditor, { parentPath, view: Change_View.PROVED });
    const of = (type: string) => changes.filter(({ resourceType }) => resourceType === type);
    expect(of("Group").map(({ before }) => before?.["name"])).toEqual(["devs", undefined]);
    for (const change of of("Member")) {
      expect([change.before, change.after, change.changedFields]).toEqual([undefined, undefined, []]);
      expect(Object.keys(change.proof?.texts ?? {})).not.toContain("after");
    }
    const chains = checkChains();
    const faults = changes.toReversed().map(({ proof }) => chains.add(required(proof)));
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });

  test("tells nothing of where the operator of another org calls from, nor its name", async () => {
    const [created] = await listAll(owner, { parentPath, orderBy: "time", view: Change_View.PROVED });
    expect(created).toMatchObject({ credentialId: "", remoteAddress: "", userAgent: "", requestId: "" });
    expect(created?.actorPath).toMatch(/^\/orgs\/@[-0-9a-f]{36}\/members\/@[-0-9a-f]{36}$/);
    expect(Object.keys(created?.proof?.texts ?? {})).not.toContain("origin");
    const [toOperator] = await listAll(api, { parentPath, orderBy: "time" });
    const { credentialId = "", requestId = "", actorPath = "" } = toOperator ?? {};
    expect(credentialId).not.toBe("");
    expect(created?.proof?.record).not.toContain(credentialId);
    const { path: named } = await api.members.getMember({ path: actorPath });
    const requestOf = requestId.slice(0, 4);
    for (const filter of [`actor_path = "${named}"`, `request_id = "${requestId}"`, `request_id = "${requestOf}*"`]) {
      expect([filter, await listAll(owner, { parentPath, filter })]).toEqual([filter, []]);
      expect(await listAll(api, { parentPath, filter })).not.toEqual([]);
    }
    expect(await listAll(owner, { parentPath, filter: `actor_path = "${actorPath}"` })).not.toEqual([]);
  });
});

test("the changes of a quota, and the reads of a log, are found by their paths", async () => {
  const { org, api } = await openCompany("gRPC", server);
  const parentPath = org.path;
  const kind = uniqueName("kind");
  await api.quantityKinds.createQuantityKind({ quantityKind: { name: kind, unit: "unit" } });
  await createClient(QuotasService, api.transport).updateQuota({ parentPath, quota: { limits: { [kind]: 3 } } });
  const find = async (path: string) =>
    (await listEach(api, { parentPath, filter: `resource_path = "${path}"` })).map(summary);
  expect(await find(`${parentPath}/quota`)).toEqual([`UPDATED ${parentPath}/quota`]);
  expect(await find(`/orgs/@${org.id}/quota`)).toEqual([`UPDATED ${parentPath}/quota`]);
  expect(await find(`${parentPath}/changes`)).toEqual([`READ ${parentPath}/changes`]);
  expect(await find("/changes")).toEqual([]);
  expect(await find(`${parentPath}/groups/quota`)).toEqual([]);
});

test("a page has fewer changes than it may have if what they were is long", async () => {
  const { org, api } = await openCompany("gRPC", server);
  const parentPath = org.path;
  const permissions = Array.from({ length: 1000 }, (_, index) => `s${"a".repeat(100)}.c${index}.get`);
  const { path } = await api.roles.createRole({ parentPath, role: { name: "long", permissions } });
  const updates = 12;
  for (let index = 0; index < updates; index++) await api.roles.updateRole({ path, role: { displayName: `${index}` } });
  const filter = `resource_path = "${path}"`;
  const list = { parentPath, filter, pageSize: 1000 };
  const first = await api.changes.listChanges(list);
  expect(first.changes.length).toBeGreaterThan(1);
  expect(first.changes.length).toBeLessThan(updates + 1);
  const all = await listEach(api, { parentPath, filter, orderBy: "time", view: Change_View.PROVED });
  const names = Array.from({ length: updates }, (_, index) => `${index}`);
  expect(all.map(({ after }) => after?.["display_name"])).toEqual(["long", ...names]);
  expect((await api.changes.listChanges({ ...list, view: Change_View.BASIC })).changes).toHaveLength(updates + 1);
});

describe("the log of a customer", () => {
  test("has the changes of its orgs and its own, in the order of their times, and of no others", async () => {
    const first = await openCompany("gRPC", server);
    const { api } = first;
    const { customerPath } = first.org;
    const second = await openCompany("gRPC", server, customerPath);
    const other = await openCompany("gRPC", server);
    for (const { org } of [first, other, second, first]) {
      await api.groups.createGroup({ parentPath: org.path, group: { name: uniqueName("g") } });
    }
    const auditor = await first.joinAs("viewer", "auditor");
    await first.bind(customerPath, "viewer", auditor);
    const changes = await listAll(auditor, { parentPath: customerPath, orderBy: "time" }, 3);
    const orgs = new Set(changes.map(({ orgPath }) => orgPath));
    expect(orgs.size).toBe(3);
    expect(orgs).toContain(first.org.path);
    expect(orgs).toContain(second.org.path);
    expect(orgs).not.toContain(other.org.path);
    expect(changes.filter(({ resourceType }) => resourceType === "Customer").map(summary)).toEqual([
      `CREATED ${customerPath}`,
    ]);
    const times = changes.map(({ time }) => `${time?.seconds} ${String(time?.nanos).padStart(9, "0")}`);
    expect(times.toSorted()).toEqual(times);
    expect(await listAll(auditor, { parentPath: customerPath })).toEqual(changes.toReversed());

    await api.orgs.suspendOrg({ path: second.org.path });
    const visible = await listAll(auditor, { parentPath: customerPath });
    expect(visible.map(({ orgPath }) => orgPath)).not.toContain(second.org.path);
    const all = await listAll(api, { parentPath: customerPath });
    expect(all.map(({ orgPath }) => orgPath)).toContain(second.org.path);
    expect(await failureOf(other.api.changes.listChanges({ parentPath: "customers/-" }))).toMatchObject({
      reason: "PATH_INVALID",
    });
  });
});

describe("the log of the platform", () => {
  test("has the changes of all orgs, for who may list them there", async () => {
    const company = await openCompany("gRPC", server);
    const owner = await company.joinAs("owner");
    expect(await failureOf(owner.changes.listChanges({}))).toMatchObject({ reason: "PERMISSION_DENIED" });
    const { changes } = await company.api.changes.listChanges({ pageSize: 5 });
    expect(changes).toHaveLength(5);
    const filter = `resource_path:"${company.org.path}"`;
    const ofOrg = await listAll(company.api, { parentPath: "", filter });
    expect(ofOrg).toEqual(await listAll(company.api, { parentPath: company.org.path }));
  });
});

describe("that somebody has read a log", () => {
  const readsOf = async (api: Api, parentPath: string): Promise<string[]> => {
    const { changes } = await api.changes.listChanges({ parentPath, filter: "type = READ", orderBy: "time" });
    return changes.map(({ actorPath, resourcePath }) => `${actorPath} ${resourcePath}`);
  };

  test("is in the log of an org, once for each caller, on all servers", async () => {
    const company = await openCompany("gRPC", server);
    const { path: parentPath } = company.org;
    const [one, two] = [await company.joinAs("viewer", "one"), await company.joinAs("viewer", "two")];
    const other = createApi("gRPC", (await secondSharedServer()).url, one.key);
    await Promise.all([one, two, other, one].map((api) => api.changes.listChanges({ parentPath })));
    expect((await readsOf(one, parentPath)).toSorted()).toEqual(
      [one, two].map(({ path }) => `${path} ${parentPath}/changes`),
    );
  });

  test("is told again after an hour by a server that found the line of another", async () => {
    const company = await openCompany("gRPC", server);
    const { path: parentPath } = company.org;
    const one = await company.joinAs("viewer", "one");
    const other = createApi("gRPC", (await secondSharedServer()).url, one.key);
    await one.changes.listChanges({ parentPath });
    await fillTables(server.databaseUrl, (db) => createPastMonths(db));
    const sql = await openSqlClient(server.databaseUrl);
    onTestFinished(() => sql.close());
    await sql.query(
      "update changes set time = time - interval '3598 seconds' where org_id = $1 and resource_type = 'ChangeLog'",
      [company.org.id],
    );
    expect(await readsOf(other, parentPath)).toHaveLength(1);
    await expect.poll(() => readsOf(other, parentPath)).toHaveLength(2);
  });

  test("is told of each credential of a caller", async () => {
    const company = await openCompany("gRPC", server);
    const { path: parentPath } = company.org;
    const one = await company.joinAs("viewer", "one");
    const { secret = "" } = await company.api.apiKeys.createApiKey({
      parentPath: one.path,
      apiKey: { name: "stolen" },
    });
    for (const api of [one, createApi("gRPC", server.url, secret), one]) await api.changes.listChanges({ parentPath });
    expect(await readsOf(company.api, parentPath)).toEqual(
      [one, one, "system"].map((reader) => expect.stringContaining(reader === "system" ? "/members/@" : one.path)),
    );
  });

  test("is in the log of a customer", async () => {
    const company = await openCompany("gRPC", server);
    const { customerPath } = company.org;
    const auditor = await company.joinAs("viewer");
    await company.bind(customerPath, "viewer", auditor);
    expect(await readsOf(auditor, customerPath)).toMatchObject([expect.stringMatching(`${customerPath}/changes$`)]);
    expect(await readsOf(auditor, customerPath)).toHaveLength(1);
    expect(await readsOf(auditor, company.org.path)).toHaveLength(1);
  });
});

test("over REST, a log is at changes of its parent", async () => {
  const company = await openCompany("gRPC", server);
  const response = await fetch(
    `${server.url}/iam/v1alpha${company.org.path}/changes?order_by=time&page_size=1&view=PROVED`,
    { headers: { authorization: `Bearer ${server.operatorKey}` } },
  );
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    changes: [
      {
        type: "CREATED",
        resource_type: "Org",
        after: { name: company.org.name },
        proof: { record: expect.any(String) },
      },
    ],
  });
});
