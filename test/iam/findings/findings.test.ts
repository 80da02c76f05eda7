// Tests what is found in an org against what its lists say, and how it is found: page by page, by filters, and by whom.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Client, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Finding_Kind, FindingsService, type ListFindingsRequest } from "../../../gen/iam/v1alpha/finding_pb.ts";
import { Member_Type } from "../../../gen/iam/v1alpha/member_pb.ts";
import { TokensService } from "../../../gen/iam/v1alpha/token_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { findingSources } from "../../../src/iam/findings/list-findings.ts";
import { services } from "../../../src/rpc/services.ts";
import { type Company, openCompany } from "../../access/callers.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { createTransport, protocols } from "../../support/transports.ts";
import { type Found, naiveFindings, toFound } from "./naive-findings.ts";
import { makeRandomOrg } from "./random-org.ts";

type Ask = Partial<Omit<ListFindingsRequest, "$typeName" | "$unknown">>;

let server: SharedServer;
let sql: SqlClient;
let api: Api;
let operator: Client<typeof FindingsService>;

beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
  api = createApi("gRPC", server.url, server.operatorKey);
  operator = findingsAs(server.operatorKey);
});
afterAll(() => sql.close());

const findingsAs = (key: string, protocol: (typeof protocols)[number] = "gRPC") =>
  createClient(FindingsService, createTransport(protocol, server.url, key));

const methods = services.flatMap(({ typeName, methods: some }) => some.map(({ name }) => `${typeName}/${name}`));

/** Walks through all pages. */
async function listAll(client: Client<typeof FindingsService>, ask: Ask): Promise<readonly Found[]> {
  const found: Found[] = [];
  let pageToken = "";
  do {
    const { findings, nextPageToken } = await client.listFindings({ ...ask, pageToken });
    found.push(...findings.map(toFound));
    pageToken = nextPageToken;
  } while (pageToken !== "");
  return found;
}

const pathsOf = (found: readonly Found[], kind: keyof typeof Finding_Kind): readonly string[] =>
  found.filter(([each]) => each === kind).map(([, path]) => path);

test("a random org has the findings that its lists say, and no others, on pages of any size and by filters", async () => {
  const parentPath = await makeRandomOrg(api, sql);
  for (const unusedDays of [0, 45]) {
    const naive = await naiveFindings(api, parentPath, unusedDays === 0 ? 90 : unusedDays);
    expect(await listAll(operator, { parentPath, unusedDays, pageSize: 1_000 })).toEqual(naive);
  }
  const naive = await naiveFindings(api, parentPath, 30);
  const ask = { parentPath, unusedDays: 30 };
  for (const pageSize of [4, naive.length]) expect(await listAll(operator, { ...ask, pageSize })).toEqual(naive);
  const kind = "ROLE_BINDING_CONTAINED";
  const contained = naive.filter(([each]) => each === kind);
  expect(contained.length).toBeGreaterThan(5);
  expect(await listAll(operator, { ...ask, filter: `kind = ${kind}`, pageSize: 3 })).toEqual(contained);
  expect(await listAll(operator, { ...ask, filter: `NOT kind = ${kind}`, pageSize: 3 })).toEqual(
    naive.filter(([each]) => each !== kind),
  );
  const [, path, related] = required(contained[0]);
  expect(await listAll(operator, { ...ask, filter: `resource_path = "${path}"` })).toEqual([contained[0]]);
  expect(await listAll(operator, { ...ask, filter: `related_path = "${related}"` })).toEqual(
    naive.filter(([, , each]) => each === related),
  );
  const projects = naive.filter(([, each]) => each.startsWith(`${parentPath}/projects/`));
  expect(await listAll(operator, { ...ask, filter: `resource_path = "${parentPath}/projects/*"` })).toEqual(projects);
});

test("to delete all RoleBindings that others contain takes access from nobody, and then none is found", async () => {
  const parentPath = await makeRandomOrg(api, sql);
  const filter = "kind = ROLE_BINDING_CONTAINED";
  const { findings } = await operator.listFindings({ parentPath, filter, pageSize: 1_000 });
  const byParent = Map.groupBy(findings, ({ resourcePath }) => resourcePath.slice(0, resourcePath.indexOf("/roleB")));
  for (const [parent, some] of byParent) {
    const paths = some.map(({ remedy }) => required(remedy).path);
    const request = { parentPath: parent, paths };
    const { accessPreview } = await api.roleBindings.batchDeleteRoleBindings({ ...request, validateOnly: true });
    expect(accessPreview).toMatchObject({ losingMemberCount: 0, changeCount: 0 });
    await api.roleBindings.batchDeleteRoleBindings(request);
  }
  expect(byParent.size).toBeGreaterThan(0);
  expect(await listAll(operator, { parentPath, filter })).toEqual([]);
});

test("what mends a finding ends it, and is a method and a request over REST that there is", async () => {
  const { path: parentPath, id } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const { path: subjectPath } = await api.members.createMember({ parentPath, member: { name: "alice" } });
  for (const [name, expireTime] of [["endless"], ["old", timestampFromDate(new Date("2100-01-01"))]] as const) {
    await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name, expireTime } });
  }
  const { path: group } = await api.groups.createGroup({ parentPath, group: { name: "nobody" } });
  await api.roles.createRole({ parentPath, role: { name: "spare" } });
  for (const [name, bound] of [
    ["first", subjectPath],
    ["second", subjectPath],
    ["empty", group],
  ] as const) {
    const roleBinding = { name, rolePath: "/roles/viewer", subjectPath: bound };
    await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  }
  for (const table of ["members", "api_keys"]) {
    await sql.query(`update ${table} set create_time = now() - interval '99 days' where org_id = $1`, [id]);
  }
  const kinds = new Set<Finding_Kind>();
  for (const { kind, remedy } of (await operator.listFindings({ parentPath })).findings) {
    kinds.add(kind);
    const { method, path, fields, httpRequest } = required(remedy);
    expect(methods).toContain(method);
    const [verb = "", url = ""] = httpRequest.split(" ");
    const values: Readonly<Record<string, string>> = { name: "successor", expire_time: "2100-01-01T00:00:00Z" };
    const body = Object.fromEntries(fields.map((field) => [field, values[field]]));
    const { status } = await fetch(server.url + url, {
      method: verb,
      headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
      ...(verb === "POST" && { body: JSON.stringify(body) }),
    });
    expect({ url, isDone: status === 200 || status === 204 }).toEqual({ url, isDone: true });
    // The last change of the path is by that method.
    const { changes } = await api.changes.listChanges({ parentPath, filter: `method = "${method}"`, pageSize: 1 });
    expect(changes[0]?.resourcePath.startsWith(path.slice(0, path.lastIndexOf("/")))).toBe(true);
  }
  // unused.test.ts has those that are found because nobody uses them.
  const others = findingSources.filter(({ kind, isOfUse }) => isOfUse === undefined || kind === "MEMBER_UNUSED");
  expect(kinds).toEqual(new Set(others.map(({ kind }) => Finding_Kind[kind])));
  expect(await listAll(operator, { parentPath })).toEqual([]);
});

describe("of a Member, it is use", () => {
  let parentPath: string;
  beforeAll(async () => {
    parentPath = (await api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
  });

  const addMember = async (type: Member_Type = Member_Type.USER) => {
    const { path, id } = await api.members.createMember({ parentPath, member: { name: uniqueName("m"), type } });
    const { secret, path: key } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
    return { path, id, key, secret: required(secret) };
  };
  const age = (id: string) =>
    sql.query("update members set create_time = now() - interval '50 days' where id = $1", [id]);
  const unused = async (unusedDays: number) =>
    pathsOf(await listAll(operator, { parentPath, unusedDays }), "MEMBER_UNUSED");

  test("to have had a Session that is gone", async () => {
    const { path, id, key, secret } = await addMember();
    const tokens = createClient(TokensService, createTransport("gRPC", server.url, secret));
    await tokens.issueToken({ startSession: true });
    await api.apiKeys.deleteApiKey({ path: key });
    await age(id);
    expect((await api.sessions.listSessions({ parentPath: path })).sessions).toEqual([]);
    expect(await unused(40)).toEqual([]);
    // A Session that began before the log does would have left no entry.
    await sql.query("delete from changes where container_id = $1", [id]);
    expect(await unused(40)).toEqual([path]);
    expect(await unused(60)).toEqual([]);
  });

  test("to have used an API key that is gone", async () => {
    const { path, id, key } = await addMember();
    await sql.query("update api_keys set last_use_time = now() - interval '20 days' where member_id = $1", [id]);
    await api.apiKeys.deleteApiKey({ path: key });
    await age(id);
    expect(await unused(30)).not.toContain(path);
    expect(await unused(10)).toContain(path);
    const { findings } = await operator.listFindings({
      parentPath,
      filter: `resource_path = "${path}"`,
      unusedDays: 10,
    });
    const daysAgo = (Date.now() / 1_000 - Number(findings[0]?.sinceTime?.seconds)) / 86_400;
    expect(Math.round(daysAgo)).toBe(20);
  });

  test("and unknown in an Org that is older than its log", async () => {
    const { path, id } = await api.orgs.createOrg({ org: { name: uniqueName("old") } });
    await api.members.createMember({ parentPath: path, member: { name: "alice" } });
    await sql.query("update members set create_time = now() - interval '500 days' where org_id = $1", [id]);
    const ask = { parentPath: path, unusedDays: 400 };
    expect((await operator.listFindings(ask)).findings).toHaveLength(1);
    await sql.query("update orgs set create_time = now() - interval '500 days' where id = $1", [id]);
    expect(await operator.listFindings(ask)).toMatchObject({
      findings: [],
      // What was used has been recorded for a short time only.
      omittedKinds: [Finding_Kind.MEMBER_UNUSED, 7, 8, 9, 10, 11],
    });
  });

  test("to be impersonated", async () => {
    const [person, application] = [await addMember(), await addMember(Member_Type.APPLICATION)];
    await Promise.all([age(person.id), age(application.id)]);
    expect(await unused(40)).toEqual(expect.arrayContaining([person.path, application.path]));
    const roleBinding = { name: uniqueName("b"), rolePath: "/roles/owner", subjectPath: person.path };
    await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
    const own = createApi("gRPC", server.url, person.secret);
    await own.members.impersonateMember({ path: application.path });
    expect(await unused(40)).not.toContain(application.path);
  });
});

describe("a request is refused", () => {
  let parentPath: string;
  beforeAll(async () => {
    parentPath = (await api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
    for (const name of ["one", "two"]) await api.roles.createRole({ parentPath, role: { name } });
  });

  test.each([
    ["no day at all", { unusedDays: -1 }, "unused_days"],
    ["more days than the log has", { unusedDays: 401 }, "unused_days"],
    ["a negative page", { pageSize: -1 }, "page_size"],
    ["an unknown kind", { filter: "kind = KEYS" }, "filter"],
    ["an unknown field", { filter: 'description = "x"' }, "filter"],
    ["a time that is none", { filter: 'since_time < "soon"' }, "filter"],
    ["a token of nothing", { pageToken: "x" }, "page_token"],
  ])("with its field: %s", async (_, ask, field) => {
    const failure = await failureOf(operator.listFindings({ parentPath, ...ask }));
    expect(failure).toMatchObject({ code: "InvalidArgument", fields: [field] });
  });

  test("with a token of another list", async () => {
    const { nextPageToken: pageToken } = await operator.listFindings({ parentPath, pageSize: 1 });
    expect(pageToken).not.toBe("");
    const other = (await api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
    const asks: readonly Ask[] = [
      { parentPath: other },
      { parentPath, unusedDays: 5 },
      { parentPath, filter: "kind:*" },
    ];
    for (const ask of asks) {
      expect(await failureOf(operator.listFindings({ ...ask, pageToken }))).toMatchObject({
        reason: "PAGE_TOKEN_INVALID",
      });
    }
    const rest = await operator.listFindings({ parentPath, pageToken });
    expect(rest).toMatchObject({ findings: [{ resourcePath: `${parentPath}/roles/two` }], nextPageToken: "" });
  });
});

describe.each(protocols)("over %s", (protocol) => {
  let company: Company;
  let parentPath: string;
  beforeAll(async () => {
    company = await openCompany(protocol, server);
    parentPath = company.org.path;
  });

  test("each finding says what mends it", async () => {
    const viewer = await company.joinAs("viewer");
    await company.bind(parentPath, "access-checker", viewer);
    await company.api.roles.createRole({ parentPath, role: { name: "spare" } });
    const { findings, omittedKinds } = await findingsAs(viewer.key, protocol).listFindings({ parentPath });
    expect(omittedKinds).toEqual([]);
    expect(findings).toMatchObject([
      {
        kind: Finding_Kind.API_KEY_WITHOUT_END,
        resourcePath: `${viewer.path}/apiKeys/ci`,
        description: "The API key never expires.",
        remedy: {
          method: "iam.v1alpha.ApiKeysService/RotateApiKey",
          path: `${viewer.path}/apiKeys/ci`,
          fields: ["name", "expire_time"],
          httpRequest: `POST /iam/v1alpha${viewer.path}/apiKeys/ci:rotate`,
        },
      },
      { kind: Finding_Kind.ROLE_BINDING_CONTAINED, remedy: { fields: [] } },
      {
        kind: Finding_Kind.ROLE_UNBOUND,
        resourcePath: `${parentPath}/roles/spare`,
        remedy: { httpRequest: `DELETE /iam/v1alpha${parentPath}/roles/spare` },
      },
    ]);
  });

  test("a caller sees the kinds that it could find by itself, and is told of the others", async () => {
    const permissions = ["iam.findings.list", "iam.roles.list", "iam.roleBindings.list"];
    const { path: rolePath } = await company.api.roles.createRole({
      parentPath,
      role: { name: "finder", permissions },
    });
    const finder = await company.join("finder");
    const denied = await failureOf(findingsAs(finder.key, protocol).listFindings({ parentPath }));
    expect(denied).toMatchObject({ reason: "PERMISSION_DENIED" });
    await company.bind(parentPath, rolePath, finder);
    const { findings, omittedKinds } = await findingsAs(finder.key, protocol).listFindings({ parentPath });
    expect(findings.map(({ kind }) => kind)).toEqual([Finding_Kind.ROLE_UNBOUND]);
    expect(omittedKinds).toEqual([1, 2, 3, 4, 5, 8, 9, 11]);
  });

  test("what is in a suspended project is shown to who may lift the suspension", async () => {
    const [viewer, owner] = [await company.joinAs("viewer", "watcher"), await company.joinAs("owner")];
    const { path: project } = await company.api.projects.createProject({ parentPath, project: { name: "web" } });
    const path = await company.bind(project, "viewer", viewer);
    const filter = `resource_path = "${path}"`;
    const seenBy = (key: string) => listAll(findingsAs(key, protocol), { parentPath, filter });
    const found = [["ROLE_BINDING_CONTAINED", path, expect.any(String), expect.any(Number)]];
    expect(await seenBy(viewer.key)).toEqual(found);
    await company.api.projects.suspendProject({ path: project });
    expect(await seenBy(viewer.key)).toEqual([]);
    expect(await seenBy(owner.key)).toEqual(found);
  });

  test("another customer's owner gets the same as if nothing was there, and finds only what is its own", async () => {
    const other = await openCompany(protocol, server);
    const owner = await other.joinAs("owner", "stranger");
    const client = findingsAs(owner.key, protocol);
    const [there, nowhere] = await Promise.all(
      [parentPath, "/orgs/there-is-none"].map((path) => failureOf(client.listFindings({ parentPath: path }))),
    );
    expect(there?.code).toBe("PermissionDenied");
    expect(there?.message.replaceAll(parentPath, "/orgs/there-is-none")).toBe(nowhere?.message);
    expect(await listAll(client, { parentPath: other.org.path })).toEqual([
      ["API_KEY_WITHOUT_END", `${owner.path}/apiKeys/ci`, "", expect.any(Number)],
    ]);
  });
});

test("a caller that loses a permission while it waits does not see what it is for", async () => {
  const company = await openCompany("gRPC", server);
  const parentPath = company.org.path;
  const kinds = { name: "kinds", permissions: ["iam.findings.list", "iam.roles.list", "iam.roleBindings.list"] };
  const keys = { name: "keys", permissions: ["iam.apiKeys.list"] };
  const finder = await company.join("finder");
  const bindings: string[] = [];
  for (const role of [kinds, keys]) {
    const { path } = await company.api.roles.createRole({ parentPath, role });
    bindings.push(await company.bind(parentPath, path, finder));
  }
  await company.api.roles.createRole({ parentPath, role: { name: "spare" } });
  const list = () => findingsAs(finder.key).listFindings({ parentPath });
  const kindsOf = ({ findings }: Awaited<ReturnType<typeof list>>) => findings.map(({ kind }) => kind);
  const { API_KEY_WITHOUT_END, ROLE_UNBOUND } = Finding_Kind;
  expect(kindsOf(await list())).toEqual([API_KEY_WITHOUT_END, ROLE_UNBOUND]);
  await sql.query("begin");
  await sql.query("lock table sessions in access exclusive mode");
  const waiting = list();
  try {
    await expect
      .poll(() => sql.query("select from pg_locks where not granted and relation = 'sessions'::regclass"))
      .toHaveLength(1);
    await company.api.roleBindings.deleteRoleBinding({ path: required(bindings[1]) });
  } finally {
    await sql.query("rollback");
  }
  const found = await waiting;
  // The role that it has lost is granted to nobody now.
  expect(kindsOf(found)).toEqual([ROLE_UNBOUND, ROLE_UNBOUND]);
  expect(found.omittedKinds).toContain(API_KEY_WITHOUT_END);
});
