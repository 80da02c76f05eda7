// Tests rules for batches of a certain size or kind, and concurrent batches on two servers with one database.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";

const most = 1000;

/** Two servers of one installation, the first of which has low limits. */
let first: TestServer;
let second: TestServer;
let sql: SqlClient;
let api: Api;
let other: Api;
beforeAll(async () => {
  first = await startTestServer({ limits: { ...readConfig({}).limits, Org: 4, Project: 3, GroupMember: 3 } });
  second = await startTestServer({ databaseUrl: first.databaseUrl });
  sql = await openSqlClient(first.databaseUrl);
  api = createApi("gRPC", first.url, first.operatorKey);
  other = createApi("REST", second.url, first.operatorKey);
});
afterAll(async () => {
  await sql.close();
  await second.close();
  await first.close();
});

const createOrg = () => api.orgs.createOrg({ org: { name: uniqueName("acme") } });
const namesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `item-${index}`);
const uniqueNames = (count: number): string[] => Array.from({ length: count }, () => uniqueName("batch"));

/** Returns the number of deadlocks that the database has detected. A session reports a deadlock before it continues. */
async function countDeadlocks(): Promise<number> {
  const [row] = await sql.query("select deadlocks from pg_stat_database where datname = current_database()");
  return Number(row?.["deadlocks"]);
}

/** Returns the results of concurrent calls. */
async function reasonsOf(calls: readonly (() => Promise<unknown>)[]): Promise<(string | undefined)[]> {
  return Promise.all(calls.map((call) => reasonOf(call)));
}

/** How often a call is made again that a busy machine has kept from a lock: it has done nothing. */
const maxTries = 5;

async function reasonOf(call: () => Promise<unknown>, tries = maxTries): Promise<string | undefined> {
  try {
    await call();
    return "done";
  } catch (error) {
    const { code, reason } = await failureOf(Promise.reject(error));
    return code === "Unavailable" && tries > 1 ? reasonOf(call, tries - 1) : reason;
  }
}

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  const members = () => createApi(protocol, second.url, first.operatorKey).members;

  test("a batch can have 1000 items", async () => {
    const { path: parentPath, id } = await createOrg();
    const names = namesOf(most);
    const requests = names.map((name) => ({ member: { name } }));
    const created = await members().batchCreateMembers({ parentPath, requests });
    expect(created.members.map(({ name }) => name)).toEqual(names);
    const [counted] = await sql.query(
      "select (select count from resource_counts where org_id = $1 and resource_type = 'Member') as kept, (select count(*) from changes where org_id = $1 and revision = (select revision from orgs where id = $1)) as lines",
      [id],
    );
    expect(counted).toEqual({ kept: String(most), lines: String(most) });
    const paths = created.members.map(({ path }) => path).toReversed();
    const deleted = await members().batchDeleteMembers({ parentPath, paths });
    expect(deleted.members.map(({ name }) => name)).toEqual(names.toReversed());
    expect((await members().listMembers({ parentPath })).totalSize).toBe(0);
  });

  test("a batch can have no more than 1000", async () => {
    const { path: parentPath } = await createOrg();
    const requests = namesOf(most + 1).map((name) => ({ member: { name } }));
    const paths = namesOf(most + 1).map((name) => `${parentPath}/members/${name}`);
    const refused = { code: "InvalidArgument", reason: "FIELD_INVALID" };
    const create = await failureOf(members().batchCreateMembers({ parentPath, requests }));
    expect(create).toMatchObject({ ...refused, fields: ["requests"] });
    const remove = await failureOf(members().batchDeleteMembers({ parentPath, paths }));
    expect(remove).toMatchObject({ ...refused, fields: ["paths"] });
    expect((await members().listMembers({ parentPath })).totalSize).toBe(0);
  });

  // Over gRPC, only those are left that its clients take in trailers.
  const [least, greatest] = protocol === "gRPC" ? [5, 99] : [100, 100];

  test("an error lists the first of many violations: 100, and fewer over gRPC", async () => {
    const { path: parentPath } = await createOrg();
    const expectFirst = ({ fields }: { readonly fields: readonly string[] }, firstField: string) => {
      expect(fields.length).toBeGreaterThanOrEqual(least);
      expect(fields.length).toBeLessThanOrEqual(greatest);
      expect(fields[0]).toBe(firstField);
    };
    const requests = namesOf(300).map(() => ({ member: { name: "Not A Name", displayName: "Ä".repeat(513) } }));
    const refused = await failureOf(members().batchCreateMembers({ parentPath, requests }));
    expect(refused.code).toBe("InvalidArgument");
    expectFirst(refused, "requests[0].member.name");
    const paths = namesOf(most).map((name) => `/orgs/elsewhere/members/${name}`);
    const gone = await failureOf(members().batchDeleteMembers({ parentPath, paths }));
    expectFirst(gone, "paths[0]");
    expect(gone.fields).toEqual(gone.fields.map((_field, index) => `paths[${index}]`));
    const nonsense = namesOf(most).map(() => "😀".repeat(50));
    const none = await failureOf(members().batchDeleteMembers({ parentPath, paths: nonsense }));
    expect(none.code).toBe("InvalidArgument");
    expectFirst(none, "paths[0]");
  });
});

describe("a limit", () => {
  test("counts the whole batch; the error names the first item beyond the limit", async () => {
    const { path: parentPath } = await createOrg();
    await api.projects.createProject({ parentPath, project: { name: "one" } });
    const requests = ["two", "three", "four", "five"].map((name) => ({ project: { name } }));
    const before = await sql.summarise();
    expect(await failureOf(api.projects.batchCreateProjects({ parentPath, requests }))).toMatchObject({
      code: "ResourceExhausted",
      reason: "LIMIT_EXCEEDED",
      metadata: { resource: parentPath, limit: "3", index: "2" },
    });
    expect(await sql.summarise()).toEqual(before);
    await api.projects.batchCreateProjects({ parentPath, requests: requests.slice(0, 2) });
    expect((await api.projects.listProjects({ parentPath })).totalSize).toBe(3);
  });

  test("of the orgs of a customer counts, too", async () => {
    const { customerPath } = await createOrg();
    const requests = uniqueNames(4).map((name) => ({ org: { name, customerPath } }));
    const before = await sql.summarise();
    expect(await failureOf(api.orgs.batchCreateOrgs({ requests }))).toMatchObject({
      reason: "LIMIT_EXCEEDED",
      metadata: { index: "3" },
    });
    expect(await sql.summarise()).toEqual(before);
  });
});

describe("memberships", () => {
  test("replace expired ones", async () => {
    const { path: parentPath, id } = await createOrg();
    const group = await api.groups.createGroup({ parentPath, group: { name: "sre" } });
    const names = ["alice", "bob"];
    await api.members.batchCreateMembers({ parentPath, requests: names.map((name) => ({ member: { name } })) });
    const requests = names.map((name) => ({ groupMember: { memberPath: `${parentPath}/members/${name}` } }));
    await api.groupMembers.batchCreateGroupMembers({ parentPath: group.path, requests });
    await sql.query("update group_members set expire_time = now() - interval '1 day' where org_id = $1", [id]);
    const { members } = await api.groupMembers.batchCreateGroupMembers({ parentPath: group.path, requests });
    expect(members.map(({ name, expireTime }) => [name, expireTime])).toEqual(names.map((name) => [name, undefined]));
  });

  test("of a missing member, or of one of another org, are refused with the index of the item", async () => {
    const { path: parentPath } = await createOrg();
    const group = await api.groups.createGroup({ parentPath, group: { name: "sre" } });
    await api.members.createMember({ parentPath, member: { name: "alice" } });
    const at = (memberPath: string) => ({ groupMember: { memberPath } });
    const alice = at(`${parentPath}/members/alice`);
    const create = (memberPath: string) => {
      const requests = [alice, at(memberPath)];
      return failureOf(api.groupMembers.batchCreateGroupMembers({ parentPath: group.path, requests }));
    };
    const missing = { code: "NotFound", metadata: { resource: `${parentPath}/members/bob`, index: "1" } };
    expect(await create(`${parentPath}/members/bob`)).toMatchObject(missing);
    expect(await create("/orgs/system/members/bob")).toMatchObject({
      code: "InvalidArgument",
      fields: ["requests[1].group_member.member_path"],
    });
  });
});

test("a batch with a subgroup that would close a cycle is refused", async () => {
  const { path: parentPath } = await createOrg();
  const requests = ["top", "middle", "low", "side"].map((name) => ({ group: { name } }));
  await api.groups.batchCreateGroups({ parentPath, requests });
  const nest = (group: string, ...inner: string[]) =>
    api.groupMembers.batchCreateSubgroups({
      parentPath: `${parentPath}/groups/${group}`,
      requests: inner.map((name) => ({ subgroup: { groupPath: `${parentPath}/groups/${name}` } })),
    });
  await nest("top", "middle");
  await nest("middle", "low");
  const before = await sql.summarise();
  for (const inner of ["top", "middle", "low"]) {
    expect(await failureOf(nest("low", "side", inner))).toMatchObject({
      reason: "SUBGROUP_CYCLE",
      metadata: { index: "1" },
    });
  }
  expect(await sql.summarise()).toEqual(before);
});

test("the operator is not deleted in a batch", async () => {
  const { id } = await api.members.createMember({ parentPath: "orgs/system", member: { name: uniqueName("robot") } });
  const { members } = await api.members.listMembers({ parentPath: "orgs/system" });
  const paths = members.map((member) => `orgs/system/members/@${member.id}`).toReversed();
  const failure = await failureOf(api.members.batchDeleteMembers({ parentPath: "orgs/system", paths }));
  expect(failure).toMatchObject({ reason: "OPERATOR_PROTECTED", metadata: { index: String(paths.length - 1) } });
  expect((await api.members.getMember({ path: `orgs/system/members/@${id}` })).deleteTime).toBeUndefined();
});

test("what somebody has changed since it was read is not deleted in a batch with its etag", async () => {
  const { path: parentPath } = await createOrg();
  const requests = uniqueNames(2).map((name) => ({ member: { name } }));
  const { members } = await api.members.batchCreateMembers({ parentPath, requests });
  const [paths, etags] = [members.map(({ path }) => path), members.map(({ etag }) => etag)];
  await other.members.updateMember({ path: paths[1] ?? "", member: { displayName: "Kept" } });
  const failure = await failureOf(api.members.batchDeleteMembers({ parentPath, paths, etags }));
  expect(failure).toMatchObject({ reason: "ETAG_STALE", metadata: { index: "1", resource: paths[1] } });
  expect(failure.message).toContain("has changed since this etag was read");
  const left = await api.members.listMembers({ parentPath });
  expect(left.members.map(({ name }) => name)).toEqual(expect.arrayContaining(members.map(({ name }) => name)));
  await api.members.batchDeleteMembers({ parentPath, paths });
});

describe("orgs", () => {
  const createPair = async () => {
    const one = await createOrg();
    const two = await api.orgs.createOrg({ org: { name: uniqueName("acme"), customerPath: one.customerPath } });
    return { customerPath: one.customerPath, paths: [two.path, one.path] };
  };

  test("of several customers, new and existing, are created together", async () => {
    const { customerPath } = await createOrg();
    const [one, two, three] = uniqueNames(3) as [string, string, string];
    const requests = [{ name: one }, { name: two, customerPath }, { name: three }].map((org) => ({ org }));
    const { orgs } = await api.orgs.batchCreateOrgs({ requests });
    expect(orgs.map((org) => org.customerPath)).toEqual([`/customers/${one}`, customerPath, `/customers/${three}`]);
  });

  test("are not created in a missing customer", async () => {
    const [one, two] = uniqueNames(2) as [string, string];
    const requests = [{ name: one }, { name: two, customerPath: "/customers/nowhere" }].map((org) => ({ org }));
    const before = await sql.summarise();
    expect(await failureOf(api.orgs.batchCreateOrgs({ requests }))).toMatchObject({
      code: "NotFound",
      metadata: { index: "1" },
    });
    const bad = [{ name: one }, { name: two, customerPath: "nowhere" }].map((org) => ({ org }));
    expect(await failureOf(api.orgs.batchCreateOrgs({ requests: bad }))).toMatchObject({
      code: "InvalidArgument",
      fields: ["requests[1].org.customer_path"],
    });
    expect(await sql.summarise()).toEqual(before);
  });

  test("are not deleted together if a customer would have none left", async () => {
    const { paths } = await createPair();
    const before = await sql.summarise();
    // The orgs are deleted in the order of their ids, so the one that was created last is the last one.
    expect(await failureOf(api.orgs.batchDeleteOrgs({ paths }))).toMatchObject({
      code: "FailedPrecondition",
      reason: "LAST_ORG",
      metadata: { index: "0" },
    });
    expect(await sql.summarise()).toEqual(before);
    await api.orgs.batchDeleteOrgs({ paths: paths.slice(1) });
  });

  test("of a customer are deleted concurrently in any order, and one always remains", async () => {
    for (let turn = 0; turn < rounds(2, 50); turn++) {
      const { customerPath, paths } = await createPair();
      const third = await api.orgs.createOrg({ org: { name: uniqueName("acme"), customerPath } });
      const all = [...paths, third.path];
      const reasons = await reasonsOf([
        () => api.orgs.batchDeleteOrgs({ paths: all.slice(0, 2) }),
        () => other.orgs.batchDeleteOrgs({ paths: all.slice(1).toReversed() }),
        () => api.orgs.deleteOrg({ path: all[0] ?? "" }),
        () => other.orgs.deleteOrg({ path: all[2] ?? "" }),
      ]);
      expect(reasons).toContain("done");
      for (const reason of reasons)
        expect(["done", "LAST_ORG", "RESOURCE_NOT_FOUND", "STATE_FORBIDS"]).toContain(reason);
      const left = await sql.query(
        "select orgs.id from orgs join customers on customers.id = customer_id where customers.name = $1 and orgs.delete_time is null",
        [customerPath.slice(11)],
      );
      expect(left.length).toBeGreaterThan(0);
    }
  });

  test("of several customers are deleted concurrently in opposite order, also with the customers", async () => {
    const pairs = await Promise.all(Array.from({ length: 4 }, createPair));
    const paths = pairs.map((pair) => pair.paths[0] ?? "");
    const customers = pairs.map((pair) => pair.customerPath);
    const deadlocks = await countDeadlocks();
    const reasons = await reasonsOf([
      () => api.orgs.batchDeleteOrgs({ paths, allowMissing: true }),
      () => other.orgs.batchDeleteOrgs({ paths: paths.toReversed(), allowMissing: true }),
      () => api.customers.batchDeleteCustomers({ paths: customers.toReversed(), allowMissing: true }),
      () => other.customers.batchDeleteCustomers({ paths: customers, allowMissing: true }),
    ]);
    expect(reasons).toEqual(["done", "done", "done", "done"]);
    // The database would have resolved deadlocks, and the service would have retried.
    expect(await countDeadlocks()).toBe(deadlocks);
    for (const path of [...paths, ...customers]) {
      const call = path.startsWith("/orgs") ? api.orgs.getOrg({ path }) : api.customers.getCustomer({ path });
      expect(await failureOf(call)).toMatchObject({ code: "NotFound" });
    }
  });

  test("with the same names, requested concurrently in opposite order, are created once", async () => {
    const places = await Promise.all(Array.from({ length: 2 }, createOrg));
    for (let turn = 0; turn < rounds(2, 50); turn++) {
      const names = uniqueNames(2);
      const requestsIn = (customers: readonly string[], all: readonly string[]) => ({
        requests: all.map((name, index) => ({ org: { name, customerPath: customers[index] ?? "" } })),
      });
      const [one, two] = places.map((place) => place.customerPath) as [string, string];
      const deadlocks = await countDeadlocks();
      const reasons = await reasonsOf([
        () => api.orgs.batchCreateOrgs(requestsIn([one, two], names)),
        () => other.orgs.batchCreateOrgs(requestsIn([two, one], names.toReversed())),
        () => other.orgs.createOrg({ org: { name: names[1] ?? "", customerPath: one } }),
      ]);
      expect(await countDeadlocks()).toBe(deadlocks);
      for (const reason of reasons) expect(["done", "RESOURCE_EXISTS"]).toContain(reason);
      expect(reasons.filter((reason) => reason === "done")).toHaveLength(1);
      const made = await Promise.all(names.map((name) => reasonsOf([() => api.orgs.getOrg({ path: `orgs/${name}` })])));
      await api.orgs.batchDeleteOrgs({
        paths: names.filter((_name, index) => made[index]?.[0] === "done").map((name) => `orgs/${name}`),
      });
    }
  });
});

test("of two concurrent batches that create the same members in opposite order, one succeeds completely", async () => {
  const { path: parentPath } = await createOrg();
  const requests = namesOf(50).map((name) => ({ member: { name } }));
  const reasons = await reasonsOf([
    () => api.members.batchCreateMembers({ parentPath, requests }),
    () => other.members.batchCreateMembers({ parentPath, requests: requests.toReversed() }),
  ]);
  expect(new Set(reasons)).toEqual(new Set(["RESOURCE_EXISTS", "done"]));
  expect((await api.members.listMembers({ parentPath })).totalSize).toBe(50);
});

test("customers are deleted with their orgs, and the response is in the order of the request", async () => {
  const orgs = [await createOrg(), await createOrg(), await createOrg()].toReversed();
  const paths = orgs.map(({ customerPath }) => customerPath);
  const { customers } = await api.customers.batchDeleteCustomers({ paths });
  expect(customers.map(({ name }) => `/customers/${name}`)).toEqual(paths);
  for (const { path } of orgs) expect(await failureOf(api.orgs.getOrg({ path }))).toMatchObject({ code: "NotFound" });
});

test("a caller without access learns nothing about the requested paths", async () => {
  const { path: parentPath } = await createOrg();
  const member = await api.members.createMember({ parentPath, member: { name: "alice" } });
  const { secret } = await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "key" } });
  const theirs = createApi("gRPC", first.url, secret);
  const ask = async (path: string) => {
    const { message, code } = await failureOf(
      theirs.members.batchGetMembers({ parentPath: "orgs/system", paths: [path] }),
    );
    return { message, code };
  };
  const refusals = await Promise.all(["orgs/system/members/operator", "orgs/system/members/x", "x"].map(ask));
  expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(["PermissionDenied"]));
  expect(new Set(refusals.map(({ message }) => message)).size).toBe(1);
});

describe("over HTTP,", () => {
  const call = async (verb: string, path: string, body?: object) => {
    const response = await fetch(`${first.url}/iam/v1alpha${path}`, {
      method: verb,
      headers: { authorization: `Bearer ${first.operatorKey}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, { path: string }[]> };
  };

  test("a BatchGet is a GET with a parameter for each path, or a POST", async () => {
    const { path } = await createOrg();
    const requests = ["a", "b"].map((name) => ({ member: { name } }));
    const created = await call("POST", `${path}/members:batchCreate`, { requests });
    expect(created.status).toBe(200);
    const paths = [`${path}/members/b`, `${path}/members/a`];
    const query = new URLSearchParams(paths.map((each): [string, string] => ["paths", each]));
    for (const answer of [
      await call("GET", `${path}/members:batchGet?${query.toString()}`),
      await call("POST", `${path}/members:batchGet`, { paths }),
      await call("GET", `/orgs/-/members:batchGet?${query.toString()}`),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.json["members"]?.map((member) => member.path)).toEqual(paths);
    }
    expect((await call("POST", `${path}/members:batchDelete`, { paths })).status).toBe(200);
    expect((await call("POST", `${path}/members:batchGet`, { paths })).status).toBe(404);
  });

  test("1000 paths can be requested by POST", async () => {
    const { path } = await createOrg();
    const member = await api.members.createMember({ parentPath: path, member: { name: "alice" } });
    const paths = namesOf(most).map(() => member.path);
    const { status, json } = await call("POST", `${path}/members:batchGet`, { paths });
    expect([status, json["members"]?.length]).toEqual([200, most]);
  });
});
