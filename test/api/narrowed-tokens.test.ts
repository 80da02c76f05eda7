import { createClient } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { createAccessClient } from "../support/access-place.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { openSqlClient } from "../support/sql.ts";
import {
  type TokenMember,
  type SharedTokenServers,
  createTokenMember,
  exchangeKey,
  sendForm,
  sharedTokenServers,
} from "../support/token-servers.ts";
import { createTransport, protocols, overFirst } from "../support/transports.ts";

let place: SharedTokenServers;
let org: string;
let web: string;
let owner: TokenMember;
let viewer: TokenMember;

beforeAll(async () => {
  place = await sharedTokenServers();
  org = (await place.api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
  web = (await place.api.projects.createProject({ parentPath: org, project: { name: "web" } })).path;
  await place.api.projects.createProject({ parentPath: org, project: { name: "other" } });
  owner = await createTokenMember(place.api, org, "owner");
  viewer = await createTokenMember(place.api, org, "viewer");
});

async function apiWith(member: TokenMember, form: Record<string, string>): Promise<Api> {
  return createApi("gRPC", place.servers[1].url, await exchangeKey(place.servers[0], member.key, form));
}

describe.each(overFirst(protocols))("over %s", (protocol) => {
  test("a token has what both its member and a scope allow", async () => {
    const client = createClient(TokensService, createTransport(protocol, place.servers[0].url, viewer.key));
    const scopes = ["iam.members.get", "iam.groups.*"];
    const { accessToken } = await client.issueToken({ scopes });
    const api = createApi(protocol, place.servers[1].url, accessToken);
    expect((await api.members.getMember({ path: viewer.path })).path).toBe(viewer.path);
    expect((await api.groups.listGroups({ parentPath: org })).groups).toEqual([]);
    expect(await failureOf(api.members.listMembers({ parentPath: org }))).toMatchObject({
      code: "PermissionDenied",
      metadata: { permission: "iam.members.list", narrowed_by: "scope" },
    });
    // The scope allows it, the role does not.
    const group = { name: uniqueName("group") };
    const denied = await failureOf(api.groups.createGroup({ parentPath: org, group }));
    expect(denied).toMatchObject({ code: "PermissionDenied", metadata: { permission: "iam.groups.create" } });
    expect(denied.metadata).not.toHaveProperty("narrowed_by");
  });

  test("a token for a project has nothing outside of it", async () => {
    const client = createClient(TokensService, createTransport(protocol, place.servers[0].url, owner.key));
    const { accessToken } = await client.issueToken({ projectPath: web });
    const api = createApi(protocol, place.servers[1].url, accessToken);
    expect((await api.projects.getProject({ path: web })).path).toBe(web);
    for (const call of [
      () => api.projects.getProject({ path: `${org}/projects/other` }),
      () => api.projects.listProjects({ parentPath: org }),
      () => api.orgs.getOrg({ path: org }),
    ]) {
      expect(await failureOf(call())).toMatchObject({ code: "PermissionDenied", metadata: { narrowed_by: "project" } });
    }
  });
});

describe("a narrowed token can be narrowed only", () => {
  const wide = { scope: "iam.members.* iam.groups.get", project: "" };

  test.each([
    ["iam.members.get", 200],
    ["iam.members.*", 200],
    ["iam.members.get iam.groups.get", 200],
    ["iam.*", 400],
    ["*", 400],
    ["iam.groups.*", 400],
    ["iam.orgs.get", 400],
    ["iam.membersx.get", 400],
    ["iam.members.get *", 400],
  ])("to %s: %i", async (scope, status) => {
    const token = await exchangeKey(place.servers[0], owner.key, wide);
    const form = { grant_type: "client_credentials", scope };
    const answer = await sendForm(place.servers[0], "token", form, { authorization: `Bearer ${token}` });
    expect(answer).toMatchObject({ status, body: status === 200 ? {} : { error: "invalid_scope" } });
  });

  test("and keeps its scopes and its project where the request has none", async () => {
    const token = await exchangeKey(place.servers[0], owner.key, { scope: "iam.*", project: web });
    const headers = { authorization: `Bearer ${token}` };
    const form = { grant_type: "client_credentials" };
    const { body } = await sendForm(place.servers[0], "token", form, headers);
    const claims = decodeJwt(token);
    expect(decodeJwt(String(body["access_token"]))).toMatchObject({ scope: "iam.*", project: claims["project"] });
    const other = await sendForm(place.servers[0], "token", { ...form, project: `${org}/projects/other` }, headers);
    expect(other.status).toBe(400);
  });

  describe("also when it is refreshed:", () => {
    type Form = Record<string, string>;
    const startWith = async (scope: string, fields: Form = {}) => {
      const form = { grant_type: "client_credentials", client_secret: viewer.key, scope: `${scope} offline_access` };
      return (await sendForm(place.servers[0], "token", { ...form, ...fields })).body;
    };
    const refresh = (token: unknown, fields: Form = {}) =>
      sendForm(place.servers[1], "token", {
        grant_type: "refresh_token",
        refresh_token: String(token),
        ...fields,
      });
    const claimsOf = ({ body }: Pick<Awaited<ReturnType<typeof refresh>>, "body">) => {
      const { scope, project } = decodeJwt(String(body["access_token"]));
      return { scope, project };
    };

    test("it keeps the scopes and the project of its session where the request has none", async () => {
      const first = await startWith("iam.members.get", { project: web });
      expect(claimsOf(await refresh(first["refresh_token"]))).toEqual(claimsOf({ body: first }));
    });

    test("the access token gets fewer, and later ones those of the session", async () => {
      const first = await startWith("iam.members.* iam.projects.get");
      const asked = { scope: "iam.members.get offline_access", project: web };
      const second = await refresh(first["refresh_token"], asked);
      expect(claimsOf(second)).toEqual({ scope: "iam.members.get", project: expect.any(String) });
      expect(second.body["scope"]).toBe("iam.members.get");
      const third = await refresh(second.body["refresh_token"]);
      expect(claimsOf(third)).toEqual({ scope: "iam.members.* iam.projects.get", project: undefined });
    });

    test.each<readonly [string, Form, string, string]>([
      ["all scopes", { scope: "*" }, "invalid_scope", "session, iam.members.*"],
      ["another scope", { scope: "iam.members.get iam.orgs.get" }, "invalid_scope", "session, iam.members.*"],
      ["what is no scope", { scope: "nonsense" }, "invalid_scope", "nonsense"],
      ["no project", { project: "/orgs/none/projects/none" }, "invalid_request", "project must be"],
      ["another project", { project: "other" }, "invalid_request", "project must be within the project of"],
    ])("%s is refused, and the refresh token is not used up", async (_what, fields, error, description) => {
      const first = await startWith("iam.members.*", { project: web });
      const form = fields["project"] === "other" ? { project: `${org}/projects/other` } : fields;
      expect((await refresh(first["refresh_token"], form)).body).toEqual({
        error,
        error_description: expect.stringContaining(description),
      });
      const { sid } = decodeJwt(String(first["access_token"]));
      const session = await place.api.sessions.getSession({ path: `${viewer.path}/sessions/@${String(sid)}` });
      expect(session.refreshTime).toBeUndefined();
      expect((await refresh(first["refresh_token"])).status).toBe(200);
    });

    test("over RPC as well", async () => {
      const first = await startWith("iam.members.* iam.projects.get");
      const client = createClient(TokensService, createTransport("gRPC", place.servers[0].url, undefined));
      const refreshToken = String(first["refresh_token"]);
      const beyond = client.refreshToken({ refreshToken, scopes: ["iam.orgs.get"] });
      expect(await failureOf(beyond)).toMatchObject({ code: "InvalidArgument", fields: ["scopes"] });
      const answer = await client.refreshToken({ refreshToken, scopes: ["iam.members.list"], projectPath: web });
      expect(claimsOf({ body: { access_token: answer.accessToken } })).toEqual({
        scope: "iam.members.list",
        project: expect.any(String),
      });
    });
  });
});

describe("a narrowed token passes nothing on", () => {
  const exceeds = { code: "PermissionDenied", reason: "GRANT_EXCEEDS_OWN" };

  test("no API key, not even its member's", async () => {
    const api = await apiWith(owner, { scope: "iam.apiKeys.*" });
    const apiKey = { name: uniqueName("key") };
    for (const parentPath of [owner.path, viewer.path]) {
      expect(await failureOf(api.apiKeys.createApiKey({ parentPath, apiKey }))).toMatchObject(exceeds);
    }
  });

  test("no role, no membership of a group with roles, no session", async () => {
    const api = await apiWith(owner, { scope: "iam.*" });
    const { path } = await place.api.groups.createGroup({ parentPath: org, group: { name: uniqueName("admins") } });
    const roleBinding = { name: uniqueName("binding"), rolePath: "/roles/viewer", subjectPath: path };
    await place.api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    const other = { ...roleBinding, name: uniqueName("binding"), subjectPath: viewer.path };
    expect(await failureOf(api.roleBindings.createRoleBinding({ parentPath: org, roleBinding: other }))).toMatchObject(
      exceeds,
    );
    const groupMember = { memberPath: viewer.path };
    expect(await failureOf(api.groupMembers.createGroupMember({ parentPath: path, groupMember }))).toMatchObject(
      exceeds,
    );
    const role = { name: uniqueName("role"), permissions: ["iam.members.get"] };
    expect(await failureOf(api.roles.createRole({ parentPath: org, role }))).toMatchObject(exceeds);
    const client = createClient(TokensService, api.transport);
    expect(await failureOf(client.issueToken({ startSession: true }))).toMatchObject({ code: "PermissionDenied" });
  });
});

test("access:explain says whether the role or the scope is missing", async () => {
  const token = await exchangeKey(place.servers[0], viewer.key, { scope: "iam.access.* iam.groups.*" });
  const access = createAccessClient("gRPC", place.servers[1].url, token);
  const ask = (permission: string) => access.explainAccess({ subjectPath: viewer.path, permission, resourcePath: org });
  expect(await ask("iam.groups.get")).toMatchObject({ allowed: true, deniedBecause: "" });
  expect(await ask("iam.members.get")).toMatchObject({
    allowed: false,
    deniedBecause: "the API key or token of the call is narrowed: its scopes do not include the permission",
  });
  expect(await ask("iam.groups.create")).toMatchObject({ allowed: false, deniedBecause: "", grants: [] });
  const held = await access.testPermissions({
    resourcePath: org,
    permissions: ["iam.groups.get", "iam.groups.create", "iam.members.get"],
  });
  expect(held.permissions).toEqual(["iam.groups.get"]);
});

test.each(["iam", "iam.members", "iam.members.get.more", "IAM.members.get", "iam.*.get", "*.get", "iam..get"])(
  "the scope %j is refused",
  async (scope) => {
    const form = { grant_type: "client_credentials", client_secret: viewer.key, scope };
    expect(await sendForm(place.servers[0], "token", form)).toMatchObject({
      status: 400,
      body: { error: "invalid_scope" },
    });
  },
);

test("a project of another org, and one that does not exist, are refused alike", async () => {
  const { path } = await place.api.orgs.createOrg({ org: { name: uniqueName("umbrella") } });
  const secret = await place.api.projects.createProject({ parentPath: path, project: { name: "secret" } });
  const answers = [];
  for (const project of [secret.path, `${path}/projects/none`, `${org}/projects/none`, org, `${web}/resources/x`]) {
    const form = { grant_type: "client_credentials", client_secret: owner.key, project };
    answers.push((await sendForm(place.servers[0], "token", form)).body);
  }
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toEqual({
    error: "invalid_request",
    error_description: `project must be a project of the caller's org, ${org}, on which it holds iam.projects.get`,
  });
});

test("the scopes of API keys and clients must name permissions of this service; a client keeps those that it has", async () => {
  const description = { code: "InvalidArgument", message: expect.stringContaining("there is no iam.member.get") };
  const scopes = ["iam.orgs.get", "iam.member.get"];
  const apiKey = { name: uniqueName("key"), scopes };
  const created = place.api.apiKeys.createApiKey({ parentPath: viewer.path, apiKey });
  expect(await failureOf(created)).toMatchObject({ ...description, fields: ["api_key.scopes"] });
  const client = { name: uniqueName("app"), redirectUris: ["https://app.example.com/"], scopes };
  const registered = place.api.clients.createClient({ parentPath: org, client });
  expect(await failureOf(registered)).toMatchObject({ ...description, fields: ["client.scopes"] });
  const other = await place.api.clients.createClient({ parentPath: org, client: { ...client, scopes: [] } });
  const sql = await openSqlClient(place.servers[0].databaseUrl);
  await sql.query("update clients set scopes = $1 where id = $2", [scopes, other.id]);
  await sql.close();
  const kept = { path: other.path, updateMask: { paths: ["display_name"] } };
  await place.api.clients.updateClient({ ...kept, client: { displayName: "Another", redirectUris: [] } });
});
