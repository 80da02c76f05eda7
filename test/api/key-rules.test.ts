import { createClient } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IdentitiesService } from "../../gen/iam/v1alpha/identity_pb.ts";
import { SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { IntrospectTokenResponse_End as End, TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { createAccessClient } from "../support/access-place.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { openSqlClient } from "../support/sql.ts";
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
let owner: TokenMember;
let viewer: TokenMember;

beforeAll(async () => {
  place = await startTokenServers({ trustedProxies: ["127.0.0.1"] });
  org = (await place.api.orgs.createOrg({ org: { name: "acme" } })).path;
  owner = await createTokenMember(place.api, org, "owner");
  viewer = await createTokenMember(place.api, org, "viewer");
});
afterAll(() => place.close());

interface KeyFields {
  readonly scopes?: string[];
  readonly allowedAddresses?: string[];
  readonly expireTime?: { readonly seconds: bigint; readonly nanos: number };
}

/** Creates an API key of a member and returns its secret and path. */
async function createKey({ path }: TokenMember, fields: KeyFields) {
  const apiKey = { name: uniqueName("key"), ...fields };
  const { path: keyPath, secret = "" } = await place.api.apiKeys.createApiKey({ parentPath: path, apiKey });
  return { keyPath, secret };
}

const from = (address: string) => ({ "x-forwarded-for": address });

/** Returns the status of a GET that a client at an address sends. */
async function statusFrom(address: string, credential: string, server = place.servers[1]): Promise<number> {
  const headers = { authorization: `Bearer ${credential}`, ...from(address) };
  const response = await fetch(`${server.url}/iam/v1alpha${org}`, { headers });
  await response.arrayBuffer();
  return response.status;
}

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  test("an API key has what both its member and a scope allow", async () => {
    const parentPath = viewer.path;
    const { apiKeys } = createApi(protocol, place.servers[0].url, owner.key);
    const scopes = ["iam.members.get", "iam.groups.*"];
    const created = await apiKeys.createApiKey({ parentPath, apiKey: { name: uniqueName("key"), scopes } });
    expect(created.scopes).toEqual(scopes);
    const api = createApi(protocol, place.servers[1].url, created.secret);
    expect((await api.members.getMember({ path: viewer.path })).path).toBe(viewer.path);
    expect(await failureOf(api.members.listMembers({ parentPath: org }))).toMatchObject({
      code: "PermissionDenied",
      metadata: { permission: "iam.members.list", narrowed_by: "scope" },
    });
    const group = { name: uniqueName("group") };
    const denied = await failureOf(api.groups.createGroup({ parentPath: org, group }));
    expect(denied).toMatchObject({ code: "PermissionDenied", metadata: { permission: "iam.groups.create" } });
    expect(denied.metadata).not.toHaveProperty("narrowed_by");
  });

  test("an API key is refused from an address that it does not allow", async () => {
    const allowedAddresses = ["192.0.2.7", "2001:DB8::/32"];
    const { secret, keyPath } = await createKey(viewer, { allowedAddresses });
    const api = createApi(protocol, place.servers[0].url, secret);
    expect(await failureOf(api.orgs.getOrg({ path: org }))).toMatchObject({
      code: "PermissionDenied",
      reason: "ADDRESS_NOT_ALLOWED",
      metadata: { address: "127.0.0.1" },
    });
    expect((await api.orgs.getOrg({ path: org }, { headers: from("192.0.2.7") })).path).toBe(org);
    const read = await place.api.apiKeys.getApiKey({ path: keyPath });
    expect(read.allowedAddresses).toEqual(["192.0.2.7/32", "2001:db8::/32"]);
  });

  test("an API key is rotated", async () => {
    const limits = { scopes: ["iam.orgs.*"], allowedAddresses: ["192.0.2.0/24", "127.0.0.1/32"] };
    const { secret, keyPath } = await createKey(viewer, limits);
    const { apiKeys } = createApi(protocol, place.servers[0].url, owner.key);
    const name = uniqueName("next");
    const rotated = await apiKeys.rotateApiKey({ path: keyPath, name, overlap: { seconds: 60n } });
    const old = await apiKeys.getApiKey({ path: keyPath });
    expect(rotated).toMatchObject({ name, ...limits, rotatedFromPath: `${viewer.path}/apiKeys/@${old.id}` });
    expect(rotated.expireTime).toBeUndefined();
    expect(Number(old.expireTime?.seconds) * 1_000 - Date.now()).toBeLessThan(60_000);
    for (const key of [secret, rotated.secret ?? ""]) expect(await statusWith(place.servers[1], key, org)).toBe(200);
  });
});

describe("allowed addresses", () => {
  const allowedAddresses = ["192.0.2.0/24", "2001:db8::/32"];
  const accepted = ["192.0.2.9", "::ffff:192.0.2.9", "::FFFF:C000:0209", "2001:0db8:0::1", "198.51.100.1, 192.0.2.9"];
  const refused = ["192.0.3.1", "::192.0.2.9", "2001:db9::1", "192.0.2.9, 198.51.100.1", "unknown"];

  test("count for an API key, its tokens and its sessions, in every spelling", async () => {
    const { secret } = await createKey(viewer, { allowedAddresses });
    const form = { grant_type: "client_credentials", client_secret: secret, scope: "offline_access" };
    const { body } = await sendForm(place.servers[0], "token", form, from("192.0.2.1"));
    const [token, refresh] = [String(body["access_token"]), String(body["refresh_token"])];
    expect(decodeJwt(token)).toMatchObject({ allowed_addresses: allowedAddresses });
    for (const credential of [secret, token]) {
      for (const address of accepted) expect([address, await statusFrom(address, credential)]).toEqual([address, 200]);
      for (const address of refused) expect([address, await statusFrom(address, credential)]).toEqual([address, 403]);
    }
    const again = { grant_type: "refresh_token", refresh_token: refresh };
    expect((await sendForm(place.servers[1], "token", again, from("192.0.3.1"))).body).toMatchObject({
      error: "unauthorized_client",
    });
    const next = await sendForm(place.servers[1], "token", again, from("2001:db8::5"));
    expect(await statusFrom("192.0.3.1", String(next.body["access_token"]))).toBe(403);
    expect(await statusFrom("192.0.2.1", String(next.body["access_token"]))).toBe(200);
  });

  test("count for tokens that are bought with a token, and are shown", async () => {
    const { secret } = await createKey(viewer, { allowedAddresses });
    const transport = createTransport("gRPC", place.servers[0].url, secret);
    const options = { headers: from("192.0.2.1") };
    const { accessToken } = await createClient(TokensService, transport).issueToken({}, options);
    const ofToken = createClient(TokensService, createTransport("gRPC", place.servers[0].url, accessToken));
    const second = (await ofToken.issueToken({}, options)).accessToken;
    expect(await statusFrom("192.0.3.1", second)).toBe(403);
    const found = await createClient(TokensService, place.api.transport).introspectToken({ token: second });
    expect(found).toMatchObject({ active: true, allowedAddresses });
    expect(await failureOf(ofToken.issueToken({}))).toMatchObject({ reason: "ADDRESS_NOT_ALLOWED" });
    const refresh = await createClient(TokensService, transport).issueToken({ startSession: true }, options);
    const { refreshToken } = refresh;
    expect(await failureOf(ofToken.refreshToken({ refreshToken }))).toMatchObject({ reason: "ADDRESS_NOT_ALLOWED" });
    const sessions = createClient(SessionsService, place.api.transport);
    const { sessions: all } = await sessions.listSessions({ parentPath: viewer.path });
    expect(all.at(-1)).toMatchObject({ allowedAddresses });
  });

  describe("are not exceeded by what is made", () => {
    const within = ["127.0.0.0/8"];
    const exceeds = { code: "PermissionDenied", reason: "GRANT_EXCEEDS_OWN" };

    test.each(["an API key", "its token", "its session"])("with %s", async (kind) => {
      const { secret, keyPath } = await createKey(owner, { allowedAddresses: within });
      const scope = kind === "its session" ? "offline_access" : "";
      const credential = kind === "an API key" ? secret : await exchangeKey(place.servers[0], secret, { scope });
      const api = createApi("gRPC", place.servers[1].url, credential);
      const expireTime = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 1_000), nanos: 0 };
      for (const { path: parentPath } of [owner, viewer]) {
        const create = (addresses: string[]) => {
          const apiKey = { name: uniqueName("k"), expireTime, allowedAddresses: addresses };
          return api.apiKeys.createApiKey({ parentPath, apiKey });
        };
        for (const wider of [[], ["0.0.0.0/0"], ["127.0.0.1", "192.0.2.1"], ["::/0"]]) {
          expect(await failureOf(create(wider))).toMatchObject(exceeds);
        }
        expect(await create(["127.0.0.1"])).toMatchObject({ allowedAddresses: ["127.0.0.1/32"], limited: false });
      }
      const rotated = { path: viewer.keyPath, name: uniqueName("k") };
      expect(await failureOf(api.apiKeys.rotateApiKey(rotated))).toMatchObject(exceeds);
      const own = await api.apiKeys.rotateApiKey({ path: keyPath, name: uniqueName("k"), expireTime });
      expect(own).toMatchObject({ allowedAddresses: within });
      const identity = { name: "sso", identityProviderPath: "/orgs/system/identityProviders/sso", subject: "1" };
      const linked = createClient(IdentitiesService, api.transport).createIdentity({
        parentPath: owner.path,
        identity,
      });
      expect(await failureOf(linked)).toMatchObject(exceeds);
    });

    test("by a confirmation", async () => {
      const member = { name: uniqueName("user"), type: 1 } as const;
      const { path: parentPath } = await place.api.members.createMember({ parentPath: org, member });
      const admin = await createTokenMember(place.api, org, "admin");
      const { apiKeys } = createApi("gRPC", place.servers[0].url, admin.key);
      const [free, bound] = [
        await apiKeys.createApiKey({ parentPath, apiKey: { name: "free" } }),
        await apiKeys.createApiKey({ parentPath, apiKey: { name: "bound", allowedAddresses: ["127.0.0.1"] } }),
      ];
      const { secret } = await createKey(owner, { allowedAddresses: within });
      const api = createApi("gRPC", place.servers[1].url, secret);
      expect(await failureOf(api.apiKeys.confirmApiKey({ path: free.path }))).toMatchObject(exceeds);
      expect((await api.apiKeys.confirmApiKey({ path: bound.path })).limited).toBe(false);
    });

    test("but roles are granted, and keys described", async () => {
      const { secret } = await createKey(owner, { allowedAddresses: within });
      const api = createApi("gRPC", place.servers[1].url, secret);
      const roleBinding = { name: uniqueName("b"), rolePath: "/roles/viewer", subjectPath: viewer.path };
      expect((await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding })).path).not.toBe("");
      const change = { path: viewer.keyPath, apiKey: { description: "x" }, updateMask: { paths: ["description"] } };
      expect(await api.apiKeys.updateApiKey(change)).toMatchObject({ description: "x" });
    });
  });

  test.each([["192.0.2.7/24"], ["192.0.2"], ["fe80::1%eth0"], ["example.com"]])("%s is refused", async (address) => {
    const apiKey = { name: uniqueName("key"), allowedAddresses: ["192.0.2.1", address] };
    expect(await failureOf(place.api.apiKeys.createApiKey({ parentPath: viewer.path, apiKey }))).toMatchObject({
      code: "InvalidArgument",
      fields: ["api_key.allowed_addresses[1]"],
    });
  });
});

describe("a narrowed API key", () => {
  test("passes nothing on: no API key, role or membership", async () => {
    const { secret } = await createKey(owner, { scopes: ["iam.*"] });
    const api = createApi("gRPC", place.servers[1].url, secret);
    const exceeds = { code: "PermissionDenied", reason: "GRANT_EXCEEDS_OWN" };
    for (const { path: parentPath } of [owner, viewer]) {
      expect(await failureOf(api.apiKeys.createApiKey({ parentPath, apiKey: { name: "x" } }))).toMatchObject(exceeds);
    }
    const roleBinding = { name: "x", rolePath: "/roles/viewer", subjectPath: viewer.path };
    expect(await failureOf(api.roleBindings.createRoleBinding({ parentPath: org, roleBinding }))).toMatchObject(
      exceeds,
    );
    expect(await failureOf(api.apiKeys.rotateApiKey({ path: owner.keyPath, name: "x" }))).toMatchObject(exceeds);
  });

  test.each([
    ["iam.orgs.get", 200],
    ["iam.members.*", 400],
    ["*", 400],
  ])("is exchanged for a token with the scope %s: %i", async (scope, status) => {
    const { secret } = await createKey(owner, { scopes: ["iam.orgs.*"] });
    const form = { grant_type: "client_credentials", client_secret: secret };
    expect((await sendForm(place.servers[0], "token", { ...form, scope })).status).toBe(status);
    expect(decodeJwt(await exchangeKey(place.servers[0], secret))).toMatchObject({ scope: "iam.orgs.*" });
  });

  test("has its scope named by access:explain", async () => {
    const { secret } = await createKey(viewer, { scopes: ["iam.access.*"] });
    const access = createAccessClient("gRPC", place.servers[1].url, secret);
    const question = { subjectPath: viewer.path, permission: "iam.groups.get", resourcePath: org };
    expect(await access.explainAccess(question)).toMatchObject({
      allowed: false,
      deniedBecause: "the API key or token of the call is narrowed: its scopes do not include the permission",
    });
  });

  test.each([[["iam"]], [["*"]], [["iam.orgs.get", "IAM.x.y"]]])("with the scopes %j is refused", async (scopes) => {
    const apiKey = { name: uniqueName("key"), scopes };
    expect(await failureOf(place.api.apiKeys.createApiKey({ parentPath: viewer.path, apiKey }))).toMatchObject({
      fields: ["api_key.scopes"],
    });
  });

  test("keeps its scopes and addresses", async () => {
    const { keyPath: path } = await createKey(viewer, { scopes: ["iam.orgs.*"], allowedAddresses: ["192.0.2.0/24"] });
    const apiKey = await place.api.apiKeys.getApiKey({ path });
    const updateMask = { paths: ["*"] };
    const changed = await place.api.apiKeys.updateApiKey({ path, apiKey: { ...apiKey, description: "x" }, updateMask });
    expect(changed).toMatchObject({ description: "x", scopes: ["iam.orgs.*"] });
    for (const change of [{ scopes: ["iam.*"] }, { allowedAddresses: ["0.0.0.0/0"] }]) {
      const patch = { ...apiKey, etag: "", ...change };
      expect(await failureOf(place.api.apiKeys.updateApiKey({ path, apiKey: patch, updateMask }))).toMatchObject({
        code: "InvalidArgument",
      });
    }
  });
});

describe("rotation", () => {
  const rotate = async (path: string, overlap: bigint) => {
    const { secret = "" } = await place.api.apiKeys.rotateApiKey({
      path,
      name: uniqueName("k"),
      overlap: { seconds: overlap },
    });
    return secret;
  };

  test("keeps the display name, except where it was only the name", async () => {
    const { path: parentPath } = viewer;
    for (const [displayName, next] of [
      ["For the builds", "For the builds"],
      ["", "after"],
    ] as const) {
      const { path } = await place.api.apiKeys.createApiKey({ parentPath, apiKey: { name: "before", displayName } });
      const successor = await place.api.apiKeys.rotateApiKey({ path, name: "after" });
      expect(successor.displayName).toBe(next);
      for (const key of [path, successor.path]) await place.api.apiKeys.deleteApiKey({ path: key });
    }
  });

  test("ends the old key after the overlap on both servers, with its tokens and sessions", async () => {
    const { secret, keyPath } = await createKey(viewer, {});
    const form = { grant_type: "client_credentials", client_secret: secret, scope: "offline_access" };
    const { body } = await sendForm(place.servers[0], "token", form);
    const token = await exchangeKey(place.servers[0], secret);
    const credentials = [secret, token, String(body["access_token"])];
    const successor = await rotate(keyPath, 2n);
    for (const server of place.servers) {
      for (const credential of [...credentials, successor]) expect(await statusWith(server, credential, org)).toBe(200);
    }
    await expect.poll(() => statusWith(place.servers[0], secret, org)).toBe(401);
    for (const server of place.servers) {
      for (const credential of credentials) expect(await statusWith(server, credential, org)).toBe(401);
      expect(await statusWith(server, successor, org)).toBe(200);
    }
    const client = createClient(TokensService, place.api.transport);
    expect(await client.introspectToken({ token })).toMatchObject({ active: false, end: End.API_KEY_ROTATED });
    const refresh = { grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) };
    expect((await sendForm(place.servers[1], "token", refresh)).body).toMatchObject({ error: "invalid_grant" });
  });

  test("refuses a write with a token of the old key that waits for the lock of its org until the overlap is over", async () => {
    const { path } = await place.api.orgs.createOrg({ org: { name: uniqueName("org") } });
    const member = await createTokenMember(place.api, path, "admin");
    const [server] = place.servers;
    const { members } = createApi("gRPC", server.url, await exchangeKey(server, member.key));
    const sql = await openSqlClient(server.databaseUrl);
    // The write has half of the time for which it waits for the lock to come there, also on a busy machine.
    await rotate(member.keyPath, 5n);
    await sql.query("begin");
    await sql.query("select from orgs where name = $1 for update", [path.split("/").at(-1)]);
    const writing = failureOf(members.createMember({ parentPath: path, member: { name: "late" } }));
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(() => sql.query(waiting)).toHaveLength(1);
    await expect.poll(() => statusWith(server, member.key, path)).toBe(401);
    await sql.query("commit");
    await sql.close();
    expect(await writing).toMatchObject({ code: "Unauthenticated" });
  });

  test("without an overlap ends them at once, also for a server that reads the org only then", async () => {
    const { path } = await place.api.orgs.createOrg({ org: { name: uniqueName("org") } });
    const member = await createTokenMember(place.api, path);
    const token = await exchangeKey(place.servers[0], member.key);
    const successor = await rotate(member.keyPath, 0n);
    for (const server of place.servers) {
      for (const credential of [member.key, token]) expect(await statusWith(server, credential, path)).toBe(401);
      expect(await statusWith(server, successor, path)).toBe(200);
    }
  });

  test("and the deletion of the old key within the overlap end its tokens at once", async () => {
    const { secret, keyPath } = await createKey(viewer, {});
    const token = await exchangeKey(place.servers[0], secret);
    await rotate(keyPath, 600n);
    expect(await statusWith(place.servers[1], token, org)).toBe(200);
    await place.api.apiKeys.deleteApiKey({ path: keyPath });
    for (const server of place.servers) expect(await statusWith(server, token, org)).toBe(401);
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    const rows = await sql.query("select type from ended_tokens where id = $1", [decodeJwt(token)["sid"]]);
    await sql.close();
    expect(rows).toEqual([{ type: "ApiKey" }]);
  });

  test("by the key itself needs only the scope, and does not outlive the key", async () => {
    const expireTime = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 1_000), nanos: 0 };
    const { secret, keyPath: path } = await createKey(owner, { scopes: ["iam.apiKeys.rotate"], expireTime });
    const { apiKeys } = createApi("gRPC", place.servers[0].url, secret);
    expect(await failureOf(apiKeys.rotateApiKey({ path, name: uniqueName("k") }))).toMatchObject({
      fields: ["expire_time"],
    });
    const next = await apiKeys.rotateApiKey({ path, name: uniqueName("k"), expireTime });
    expect(next).toMatchObject({ scopes: ["iam.apiKeys.rotate"], expireTime });
    const token = await exchangeKey(place.servers[0], secret);
    const byToken = createApi("gRPC", place.servers[0].url, token).apiKeys;
    expect(await failureOf(byToken.rotateApiKey({ path, name: uniqueName("k"), expireTime }))).toMatchObject({
      reason: "GRANT_EXCEEDS_OWN",
    });
  });

  test("keeps the limit of a limited key", async () => {
    const { path } = await place.api.members.createMember({
      parentPath: org,
      member: { name: uniqueName("u"), type: 1 },
    });
    const admin = await createTokenMember(place.api, org, "admin");
    const api = createApi("gRPC", place.servers[0].url, admin.key);
    const key = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "first" } });
    expect(key.limited).toBe(true);
    const rotated = await place.api.apiKeys.rotateApiKey({ path: key.path, name: "second" });
    expect(rotated.limited).toBe(true);
  });

  test("by somebody else than an owner limits the successor of a person's key", async () => {
    const { path } = await place.api.members.createMember({
      parentPath: org,
      member: { name: uniqueName("u"), type: 1 },
    });
    const admin = await createTokenMember(place.api, org, "admin");
    const own = await place.api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "own" } });
    expect(own.limited).toBe(false);
    const { apiKeys } = createApi("gRPC", place.servers[0].url, admin.key);
    const rotated = await apiKeys.rotateApiKey({ path: own.path, name: "next" });
    expect(rotated.limited).toBe(true);
  });

  test("is refused for a deleted member, as the creation of a key is", async () => {
    const { path, id } = await createTokenMember(place.api, org);
    await place.api.members.deleteMember({ path });
    const apiKeys = `${org}/members/@${id}/apiKeys`;
    expect(await failureOf(place.api.apiKeys.rotateApiKey({ path: `${apiKeys}/ci`, name: "next" }))).toMatchObject({
      reason: "STATE_FORBIDS",
    });
  });

  test("is not outlived by what its tokens and sessions create", async () => {
    const { secret, keyPath } = await createKey(owner, {});
    const form = { grant_type: "client_credentials", client_secret: secret, scope: "offline_access" };
    const { body } = await sendForm(place.servers[0], "token", form);
    const credentials = [secret, await exchangeKey(place.servers[0], secret), String(body["access_token"])];
    await rotate(keyPath, 600n);
    for (const credential of credentials) {
      const { apiKeys } = createApi("gRPC", place.servers[1].url, credential);
      const apiKey = { name: uniqueName("key") };
      expect(await failureOf(apiKeys.createApiKey({ parentPath: owner.path, apiKey }))).toMatchObject({
        fields: ["api_key.expire_time"],
      });
    }
  });

  test("ends the session that waits for it, too", async () => {
    const { secret, keyPath } = await createKey(viewer, {});
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    await sql.query("begin");
    await sql.query("select from orgs where name = 'acme' for update");
    const locked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    const waiting = (count: number) => expect.poll(() => sql.query(locked)).toHaveLength(count);
    const rotated = rotate(keyPath, 60n);
    await waiting(1);
    const form = { grant_type: "client_credentials", client_secret: secret, scope: "offline_access" };
    const started = sendForm(place.servers[1], "token", form);
    await waiting(2);
    await sql.query("commit");
    await sql.close();
    await rotated;
    expect((await started).status).toBe(200);
    const sessions = createClient(SessionsService, place.api.transport);
    const { sessions: all } = await sessions.listSessions({ parentPath: viewer.path, pageSize: 1000 });
    expect(Number(all.at(-1)?.expireTime?.seconds) * 1_000 - Date.now()).toBeLessThan(60_000);
  });

  test("repeated with its request id makes one successor, without the secret", async () => {
    const { keyPath: path } = await createKey(viewer, {});
    const request = { path, name: uniqueName("k"), requestId: "5f0c1d8e-3d0b-4b7a-9f51-6a2c8d1e7b31" };
    const first = await place.api.apiKeys.rotateApiKey(request);
    const again = await place.api.apiKeys.rotateApiKey(request);
    expect(again).toMatchObject({ id: first.id });
    expect(again.secret).toBeUndefined();
  });
});

describe("the policy of an org", () => {
  const day = 86_400;

  test("is required of new keys and successors, and changes no others", async () => {
    const { path } = await place.api.orgs.createOrg({ org: { name: uniqueName("strict") } });
    const member = await createTokenMember(place.api, path, "owner");
    const apiKeyPolicy = { maxLifetime: { seconds: BigInt(day) }, scopesRequired: true };
    const updated = await place.api.orgs.updateOrg({
      path,
      org: { apiKeyPolicy },
      updateMask: { paths: ["api_key_policy"] },
    });
    expect(updated).toMatchObject({ apiKeyPolicy });
    expect(await statusWith(place.servers[0], member.key, path)).toBe(200);
    const at = (seconds: number) => ({ seconds: BigInt(Math.floor(Date.now() / 1_000) + seconds), nanos: 0 });
    const attempt = (fields: KeyFields) =>
      place.api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: uniqueName("key"), ...fields } });
    const scopes = ["iam.orgs.*"];
    expect(await failureOf(attempt({ scopes }))).toMatchObject({ fields: ["api_key.expire_time"] });
    expect(await failureOf(attempt({ scopes, expireTime: at(2 * day) }))).toMatchObject({
      fields: ["api_key.expire_time"],
    });
    expect(await failureOf(attempt({ expireTime: at(day / 2) }))).toMatchObject({ fields: ["api_key.scopes"] });
    const key = await attempt({ scopes, expireTime: at(day / 2) });
    const successor = { path: key.path, name: uniqueName("next") };
    expect(await failureOf(place.api.apiKeys.rotateApiKey(successor))).toMatchObject({ fields: ["expire_time"] });
    await place.api.apiKeys.rotateApiKey({ ...successor, expireTime: at(day / 2) });
    await place.api.orgs.updateOrg({ path, org: {}, updateMask: { paths: ["api_key_policy"] } });
    expect((await attempt({})).expireTime).toBeUndefined();
  });

  test("can be given at creation", async () => {
    const apiKeyPolicy = { scopesRequired: true };
    const { path } = await place.api.orgs.createOrg({ org: { name: uniqueName("org"), apiKeyPolicy } });
    expect(await place.api.orgs.getOrg({ path })).toMatchObject({ apiKeyPolicy });
  });
});

test("the error for a wrong client secret names the secret", async () => {
  const form = { grant_type: "client_credentials", client_secret: `${owner.key}x` };
  expect((await sendForm(place.servers[0], "token", form)).body).toMatchObject({
    error: "invalid_client",
    error_description: "the client secret is no valid API key: it is mistyped, has expired, or was deleted or revoked",
  });
});
