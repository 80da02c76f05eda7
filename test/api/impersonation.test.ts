import { createClient } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { IntrospectTokenResponse_End as End, TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { createAccessClient } from "../support/access-place.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { openSqlClient } from "../support/sql.ts";
import { issuer, startTestServer } from "../support/test-server.ts";
import {
  type TokenMember,
  type TokenServers,
  createTokenMember,
  exchangeKey,
  sendForm,
  startTokenServers,
  statusWith,
} from "../support/token-servers.ts";
import { createTransport, overFirst } from "../support/transports.ts";

let place: TokenServers;
let org: string;
/** An application that may read everything, and one that may change everything. */
let viewer: TokenMember;
let owner: TokenMember;

beforeAll(async () => {
  place = await startTokenServers();
  org = (await place.api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
  viewer = await createTokenMember(place.api, org, "viewer");
  owner = await createTokenMember(place.api, org, "owner");
});
afterAll(() => place.close());

const apiOf = (credential: string, server = place.servers[0]) => createApi("gRPC", server.url, credential);

/** Returns a token with which the holder of a credential acts as a member. */
async function impersonate(credential: string, path: string, fields: { readonly scopes?: string[] } = {}) {
  return (await apiOf(credential).members.impersonateMember({ path, ...fields })).accessToken;
}

/** Expects that both servers accept or refuse a token. */
async function expectStatus(token: string, status: number): Promise<void> {
  for (const server of place.servers) expect(await statusWith(server, token, org)).toBe(status);
}

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  test("a member acts as an application, and may do what both may", async () => {
    const groupName = uniqueName("group");
    for (const [own, path] of [
      [owner, viewer.path],
      [viewer, owner.path],
    ] as const) {
      const { members } = createApi(protocol, place.servers[0].url, own.key);
      const asked = members.impersonateMember({ path });
      if (own === viewer) {
        // Reading is not enough to impersonate.
        expect(await failureOf(asked)).toMatchObject({ metadata: { permission: "iam.members.impersonate" } });
        continue;
      }
      const api = createApi(protocol, place.servers[1].url, (await asked).accessToken);
      expect((await api.orgs.getOrg({ path: org })).path).toBe(org);
      expect(await failureOf(api.groups.createGroup({ parentPath: org, group: { name: groupName } }))).toMatchObject({
        code: "PermissionDenied",
        metadata: { permission: "iam.groups.create" },
      });
    }
  });
});

/** Creates a member who may impersonate and otherwise holds what a role has. */
async function createImpersonator(role = "members-admin"): Promise<TokenMember> {
  return createTokenMember(place.api, org, role);
}

describe("a token of impersonation", () => {
  test("names both, in its claims and to whoever introspects it", async () => {
    const token = await impersonate(owner.key, viewer.path);
    expect(decodeJwt(token)).toMatchObject({ sub: viewer.id, act: { sub: owner.id }, client_id: expect.any(String) });
    const client = createClient(TokensService, createTransport("gRPC", place.servers[1].url, owner.key));
    const found = await client.introspectToken({ token });
    expect(found).toMatchObject({ active: true, memberPath: viewer.path, impersonatorPath: owner.path });
    const { body } = await sendForm(place.servers[0], "introspect", { token, client_secret: owner.key });
    expect(body).toMatchObject({ sub: viewer.id, act: { sub: owner.id } });
  });

  test("is denied what the impersonator does not hold, and says so", async () => {
    const admin = await createImpersonator();
    const token = await impersonate(admin.key, owner.path);
    const api = apiOf(token, place.servers[1]);
    expect((await api.members.getMember({ path: owner.path })).path).toBe(owner.path);
    expect(await failureOf(api.projects.listProjects({ parentPath: org }))).toMatchObject({
      code: "PermissionDenied",
      metadata: { permission: "iam.projects.list", narrowed_by: "impersonator" },
    });
    const held = await createAccessClient("gRPC", place.servers[0].url, token).testPermissions({
      resourcePath: org,
      permissions: ["iam.members.get", "iam.projects.list", "iam.roleBindings.grantUnheld"],
    });
    expect(held.permissions).toEqual(["iam.members.get"]);
  });

  test("passes nothing on, is exchanged for nothing, and impersonates nobody", async () => {
    const token = await impersonate(owner.key, owner.path);
    const api = apiOf(token);
    const exceeds = { reason: "GRANT_EXCEEDS_OWN" };
    expect(await failureOf(api.apiKeys.createApiKey({ parentPath: owner.path, apiKey: { name: "x" } }))).toMatchObject(
      exceeds,
    );
    expect(await failureOf(api.apiKeys.rotateApiKey({ path: owner.keyPath, name: "x" }))).toMatchObject(exceeds);
    const roleBinding = { name: "x", rolePath: "/roles/viewer", subjectPath: viewer.path };
    expect(await failureOf(api.roleBindings.createRoleBinding({ parentPath: org, roleBinding }))).toMatchObject(
      exceeds,
    );
    const denied = { code: "PermissionDenied", reason: "PERMISSION_DENIED" };
    expect(await failureOf(api.members.impersonateMember({ path: viewer.path }))).toMatchObject(denied);
    const tokens = createClient(TokensService, api.transport);
    for (const startSession of [false, true]) {
      expect(await failureOf(tokens.issueToken({ startSession }))).toMatchObject(denied);
    }
  });

  test("takes away only what both may take away", async () => {
    const admin = await createImpersonator();
    const token = await impersonate(admin.key, owner.path);
    // An owner may end its own key; somebody who impersonates it and does not hold what it holds may not.
    expect(await failureOf(apiOf(token).members.suspendMember({ path: owner.path }))).toMatchObject({
      reason: "REVOKE_EXCEEDS_OWN",
    });
  });

  test("has the scopes of the credential of the call, or fewer", async () => {
    const narrowed = await exchangeKey(place.servers[0], owner.key, { scope: "iam.members.*" });
    expect(decodeJwt(await impersonate(narrowed, viewer.path))).toMatchObject({ scope: "iam.members.*" });
    const scopes = ["iam.members.get"];
    expect(decodeJwt(await impersonate(narrowed, viewer.path, { scopes }))).toMatchObject({ scope: "iam.members.get" });
    const wide = { path: viewer.path, scopes: ["iam.groups.get"] };
    expect(await failureOf(apiOf(narrowed).members.impersonateMember(wide))).toMatchObject({ fields: ["scopes"] });
  });

  test("leaves both names in the change log, when it is issued and when it is used", async () => {
    const admin = await createTokenMember(place.api, org, "admin");
    const app = await createTokenMember(place.api, org, "admin");
    const token = await impersonate(admin.key, app.path);
    const { id } = await apiOf(token).groups.createGroup({ parentPath: org, group: { name: uniqueName("group") } });
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    const used = await sql.query("select actor_id, impersonator_id from changes where resource_id = $1", [id]);
    const { jti } = decodeJwt(token);
    const issued = await sql.query(
      "select actor_id, after ->> 'member_id' as member, after ->> 'impersonator_id' as by from changes where resource_id = $1",
      [jti],
    );
    const revoked = await exchangeKey(place.servers[0], app.key);
    await sendForm(place.servers[0], "revoke", { token: revoked }, { authorization: `Bearer ${token}` });
    const { jti: revokedId } = decodeJwt(revoked);
    const byForm = await sql.query("select actor_id, impersonator_id from changes where resource_id = $1", [revokedId]);
    await sql.close();
    expect(byForm).toEqual([{ actor_id: app.id, impersonator_id: admin.id }]);
    expect(used).toEqual([{ actor_id: app.id, impersonator_id: admin.id }]);
    expect(issued).toEqual([{ actor_id: admin.id, member: app.id, by: admin.id }]);
  });
});

test("calls count against the rate limit of the impersonator, also those of OAuth", async () => {
  const { databaseUrl } = place.servers[0];
  const server = await startTestServer({
    issuer,
    databaseUrl,
    secretKeysFile: place.secretKeysFile,
    rateReadsPerCaller: 1,
  });
  onTestFinished(() => server.close());
  const [by, app] = [await createTokenMember(place.api, org, "admin"), await createTokenMember(place.api, org)];
  const token = await impersonate(by.key, app.path);
  const introspect = (credential: string) =>
    sendForm(server, "introspect", { token }, { authorization: `Bearer ${credential}` });
  expect((await introspect(token)).body).toMatchObject({ active: true });
  expect((await introspect(by.key)).body).toMatchObject({ error: "slow_down" });
  expect((await introspect(app.key)).body).toMatchObject({ active: true });
});

describe("impersonation ends on both servers with", () => {
  const ways: Record<string, (by: TokenMember, app: TokenMember, used: string) => Promise<unknown>> = {
    "the tokens of the application": (_by, { path }) => place.api.members.revokeTokens({ path }),
    "the tokens of the impersonator": ({ path }) => place.api.members.revokeTokens({ path }),
    "the application": (_by, { path }) => place.api.members.deleteMember({ path }),
    "the activity of the application": (_by, { path }) => place.api.members.suspendMember({ path }),
    "the activity of the impersonator": ({ path }) => place.api.members.suspendMember({ path }),
    "the impersonator": ({ path }) => place.api.members.deleteMember({ path }),
    "the API key of the impersonator": ({ keyPath: path }) => place.api.apiKeys.deleteApiKey({ path }),
    "the token with which it was asked for": ({ key }, _app, token) =>
      createClient(TokensService, createTransport("gRPC", place.servers[0].url, key)).revokeToken({ token }),
    "the permission of the impersonator": async ({ path: subject }) => {
      const { roleBindings } = await place.api.roleBindings.listRoleBindings({ parentPath: org, pageSize: 1000 });
      const binding = roleBindings.find(({ subjectPath }) => subjectPath === subject);
      return place.api.roleBindings.deleteRoleBinding({ path: binding?.path ?? "" });
    },
  };

  test.each(Object.keys(ways))("%s", async (way) => {
    const [by, app] = [await createTokenMember(place.api, org, "admin"), await createTokenMember(place.api, org)];
    const used = await exchangeKey(place.servers[0], by.key);
    const token = await impersonate(used, app.path);
    await expectStatus(token, 200);
    await ways[way]?.(by, app, used);
    await expectStatus(token, 401);
    const { body } = await sendForm(place.servers[1], "introspect", { token, client_secret: owner.key });
    expect(body).toMatchObject({ active: false });
  });

  test("a token that was exchanged for the one with which it was asked for", async () => {
    const [by, app] = [await createTokenMember(place.api, org, "admin"), await createTokenMember(place.api, org)];
    const first = await exchangeKey(place.servers[0], by.key);
    const exchanged = createClient(TokensService, createTransport("gRPC", place.servers[0].url, first)).issueToken({});
    const token = await impersonate((await exchanged).accessToken, app.path);
    await expectStatus(token, 200);
    await sendForm(place.servers[0], "revoke", { token: first });
    await expectStatus(token, 401);
    const { body } = await sendForm(place.servers[1], "introspect", { token, client_secret: owner.key });
    expect(body).toEqual({ active: false });
    const client = createClient(TokensService, createTransport("gRPC", place.servers[1].url, owner.key));
    expect((await client.introspectToken({ token })).end).toBe(End.IMPERSONATION_ENDED);
  });

  test("the token itself, which its holder may revoke", async () => {
    const token = await impersonate(owner.key, viewer.path);
    expect((await sendForm(place.servers[0], "revoke", { token })).status).toBe(200);
    await expectStatus(token, 401);
    const client = createClient(TokensService, createTransport("gRPC", place.servers[1].url, owner.key));
    expect(await client.introspectToken({ token })).toMatchObject({ active: false, end: End.TOKEN_REVOKED });
  });

  test.each(["the activity of the impersonator", "the permission of the impersonator"])(
    "%s, also for a write that waits for the lock of its org",
    async (way) => {
      const [by, app] = [
        await createTokenMember(place.api, org, "admin"),
        await createTokenMember(place.api, org, "admin"),
      ];
      const token = await impersonate(by.key, app.path);
      const { id } = await place.api.orgs.getOrg({ path: org });
      const sql = await openSqlClient(place.servers[0].databaseUrl);
      await sql.query("begin");
      await sql.query("select from orgs where id = $1 for no key update", [id]);
      const ended = ways[way]?.(by, app, "");
      const locked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      const waiting = async () => (await sql.query(locked)).length;
      await expect.poll(waiting).toBe(1);
      const group = { name: uniqueName("late") };
      const late = failureOf(apiOf(token, place.servers[1]).groups.createGroup({ parentPath: org, group }));
      await expect.poll(waiting).toBe(2);
      await sql.query("commit");
      await sql.close();
      await ended;
      expect(["Unauthenticated", "PermissionDenied"]).toContain((await late).code);
    },
  );
});

test.each([
  ["a person", Member_Type.USER],
  ["a member of another org", Member_Type.APPLICATION],
])("%s cannot be impersonated", async (_who, type) => {
  const isOther = type === Member_Type.APPLICATION;
  const parentPath = isOther ? (await place.api.orgs.createOrg({ org: { name: uniqueName("org") } })).path : org;
  const { path } = await place.api.members.createMember({ parentPath, member: { name: uniqueName("m"), type } });
  const api = isOther ? place.api : apiOf(owner.key);
  expect(await failureOf(api.members.impersonateMember({ path }))).toMatchObject({ reason: "STATE_FORBIDS" });
});

test("validate_only issues nothing and leaves no line in the change log", async () => {
  const sql = await openSqlClient(place.servers[0].databaseUrl);
  // Of this org: in others, what ends by itself may be written meanwhile.
  const text = "select count(*)::int as n from changes where org_id = (select id from orgs where name = $1)";
  const count = async () => (await sql.query(text, [org.slice("/orgs/".length)]))[0]?.["n"];
  const before = await count();
  const { members } = apiOf(owner.key);
  const { accessToken, expireTime } = await members.impersonateMember({ path: viewer.path, validateOnly: true });
  expect([accessToken, expireTime === undefined, await count()]).toEqual(["", false, before]);
  await sql.close();
});
