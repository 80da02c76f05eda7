import { createClient } from "@connectrpc/connect";
import { decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { IntrospectTokenResponse_End as End, TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { publishedKeys } from "../support/published-keys.ts";
import { rounds } from "../support/rounds.ts";
import { openSqlClient } from "../support/sql.ts";
import { issuer } from "../support/test-server.ts";
import {
  type TokenMember,
  type SharedTokenServers,
  createTokenMember,
  exchangeKey,
  sendForm,
  sharedTokenServers,
  statusWith,
} from "../support/token-servers.ts";
import { createTransport, protocols, overFirst } from "../support/transports.ts";

let place: SharedTokenServers;
let org: string;

beforeAll(async () => {
  place = await sharedTokenServers();
  org = (await place.api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
});

const newMember = (role?: string): Promise<TokenMember> => createTokenMember(place.api, org, role);

/** Expects that both servers accept or refuse a token. */
async function expectStatus(token: string, status: number): Promise<void> {
  for (const server of place.servers) expect(await statusWith(server, token, org)).toBe(status);
}

/** Introspects a token. OAuth tells nothing of one that has ended; the API tells what has ended it, as `ended_by`. */
async function introspect(token: string, key: string): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await sendForm(place.servers[1], "introspect", { token, client_secret: key });
  const client = createClient(TokensService, createTransport("gRPC", place.servers[1].url, key));
  const { active, end } = await client.introspectToken({ token });
  expect(body["active"]).toBe(active);
  if (active) return body;
  expect(body).toEqual({ active: false });
  const [name] = Object.entries(End).find(([, value]) => value === end && end !== End.END_UNSPECIFIED) ?? [];
  return { ...body, ended_by: name };
}

describe.each(overFirst(protocols))("over %s", (protocol) => {
  const clientOf = (credential: string) =>
    createClient(TokensService, createTransport(protocol, place.servers[0].url, credential));

  test("an API key is exchanged for a token, which the other server accepts", async () => {
    const member = await newMember();
    const { accessToken, expireTime } = await clientOf(member.key).issueToken({});
    const api = createApi(protocol, place.servers[1].url, accessToken);
    expect((await api.orgs.getOrg({ path: org })).path).toBe(org);
    expect(Number(expireTime?.seconds) * 1_000 - Date.now()).toBeGreaterThan(3_500_000);
  });

  test("a token is exchanged for one that does not outlive it", async () => {
    const member = await newMember();
    const short = await clientOf(member.key).issueToken({ lifetime: { seconds: 60n } });
    const next = await clientOf(short.accessToken).issueToken({ lifetime: { seconds: 600n } });
    expect(next.expireTime).toEqual(short.expireTime);
    await expectStatus(next.accessToken, 200);
  });

  test("validate_only issues and revokes nothing", async () => {
    const member = await newMember();
    const { accessToken, expireTime } = await clientOf(member.key).issueToken({ validateOnly: true });
    expect({ accessToken, isSet: expireTime !== undefined }).toEqual({ accessToken: "", isSet: true });
    const token = await exchangeKey(place.servers[0], member.key);
    await clientOf(member.key).revokeToken({ token, validateOnly: true });
    await expectStatus(token, 200);
  });

  test("a token is introspected and revoked", async () => {
    const member = await newMember();
    const token = await exchangeKey(place.servers[0], member.key);
    const client = clientOf(member.key);
    const active = await client.introspectToken({ token });
    expect(active).toMatchObject({ active: true, end: End.END_UNSPECIFIED, memberPath: member.path });
    await clientOf(token).revokeToken({ token });
    await expectStatus(token, 401);
    expect(await client.introspectToken({ token })).toMatchObject({ active: false, end: End.TOKEN_REVOKED });
    await client.revokeToken({ token });
  });

  test("a life of more than 12 hours is refused", async () => {
    const member = await newMember();
    const failure = await failureOf(clientOf(member.key).issueToken({ lifetime: { seconds: 43_201n } }));
    expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["lifetime"] });
  });
});

describe("a token", () => {
  test("is a JWT as RFC 9068 says, and can be verified from the published keys", async () => {
    const [server] = place.servers;
    const member = await newMember();
    const token = await exchangeKey(server, member.key, { lifetime: "120" });
    const metadata = (await (await fetch(`${server.url}/.well-known/openid-configuration`)).json()) as {
      issuer: string;
      jwks_uri: string;
    };
    expect(metadata).toMatchObject({ issuer, jwks_uri: `${issuer}/.well-known/jwks.json` });
    const keys = publishedKeys(metadata.jwks_uri.replace(issuer, server.url));
    const options = { issuer, audience: issuer, typ: "at+jwt", algorithms: ["ES256"] };
    const { payload } = await jwtVerify(token, keys, options);
    expect(payload).toMatchObject({ iss: issuer, aud: issuer, sub: member.id, scope: "*", gen: "0" });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(120);
    expect(Object.keys(decodeProtectedHeader(token)).toSorted()).toEqual(["alg", "kid", "typ"]);
  });

  test("does not outlive its API key", async () => {
    const { path } = await newMember();
    const expireTime = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 100), nanos: 0 };
    const apiKey = { name: uniqueName("key"), expireTime };
    const { secret = "" } = await place.api.apiKeys.createApiKey({ parentPath: path, apiKey });
    const token = await exchangeKey(place.servers[0], secret);
    expect(decodeJwt(token).exp).toBe(Number(expireTime.seconds));
  });

  test("cannot be used to create an API key that outlives the one behind it", async () => {
    const { path } = await newMember("owner");
    const expireTime = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 100), nanos: 0 };
    const { secret = "" } = await place.api.apiKeys.createApiKey({
      parentPath: path,
      apiKey: { name: uniqueName("key"), expireTime },
    });
    const api = createApi("gRPC", place.servers[0].url, await exchangeKey(place.servers[0], secret));
    const failure = await failureOf(api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "longer" } }));
    expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["api_key.expire_time"] });
  });

  test("is refused for a limited API key", async () => {
    const { path } = await place.api.members.createMember({ parentPath: org, member: { name: uniqueName("person") } });
    const admin = await newMember("admin");
    const other = createApi("gRPC", place.servers[0].url, admin.key);
    const { secret = "", limited } = await other.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
    expect(limited).toBe(true);
    const { status, body } = await sendForm(place.servers[0], "token", {
      grant_type: "client_credentials",
      client_secret: secret,
    });
    expect({ status, error: body["error"] }).toEqual({ status: 400, error: "unauthorized_client" });
  });

  test("names its API key in the change log", async () => {
    const member = await newMember("admin");
    const token = await exchangeKey(place.servers[0], member.key);
    const { path } = await createApi("gRPC", place.servers[1].url, token).groups.createGroup({
      parentPath: org,
      group: { name: uniqueName("group") },
    });
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    const query = "select actor_id, credential_id from changes where resource_path = $1";
    const rows = await sql.query(query, [path]);
    await sql.close();
    expect(rows).toEqual([{ actor_id: member.id, credential_id: decodeJwt(token)["sid"] }]);
  });
});

describe("ends on both servers", () => {
  /** The ways to end a token, and what introspection says. */
  const ways: Readonly<Record<string, (member: TokenMember, token: string) => Promise<unknown>>> = {
    TOKEN_REVOKED: (_member, token) => sendForm(place.servers[1], "revoke", { token }),
    API_KEY_DELETED: ({ keyPath }) => place.api.apiKeys.deleteApiKey({ path: keyPath }),
    MEMBER_SUSPENDED: ({ path }) => place.api.members.suspendMember({ path }),
    MEMBER_DELETED: ({ path }) => place.api.members.deleteMember({ path }),
  };

  test.each(Object.keys(ways))("%s", async (endedBy) => {
    const member = await newMember();
    const token = await exchangeKey(place.servers[0], member.key);
    await expectStatus(token, 200);
    await ways[endedBy]?.(member, token);
    await expectStatus(token, 401);
    expect(await introspect(token, place.servers[0].operatorKey)).toMatchObject({ active: false, ended_by: endedBy });
  });

  test("also for a server that reads the org only then", async () => {
    const member = await newMember();
    const tokens = [
      await exchangeKey(place.servers[0], member.key),
      await exchangeKey(place.servers[0], member.key),
    ] as const;
    await sendForm(place.servers[0], "revoke", { token: tokens[0] });
    const third = await startTokenServersLike(place);
    expect(await statusWith(third, tokens[0], org)).toBe(401);
    expect(await statusWith(third, tokens[1], org)).toBe(200);
    await place.api.apiKeys.deleteApiKey({ path: member.keyPath });
    expect(await statusWith(third, tokens[1], org)).toBe(401);
    const fourth = await startTokenServersLike(place);
    expect(await statusWith(fourth, tokens[1], org)).toBe(401);
    await third.close();
    await fourth.close();
  });

  test("and does not come back with its member, or with another member of its name", async () => {
    const member = await newMember();
    const token = await exchangeKey(place.servers[0], member.key);
    await place.api.members.suspendMember({ path: member.path });
    await place.api.members.activateMember({ path: member.path });
    await expectStatus(token, 401);
    expect(await introspect(token, place.servers[0].operatorKey)).toMatchObject({ ended_by: "ALL_REVOKED" });
    const next = await exchangeKey(place.servers[1], member.key);
    await expectStatus(next, 200);
    await place.api.members.deleteMember({ path: member.path });
    const name = member.path.split("/").at(-1) ?? "";
    await place.api.members.createMember({ parentPath: org, member: { name, type: 2 } });
    await place.api.roleBindings.createRoleBinding({
      parentPath: org,
      roleBinding: { name: uniqueName("again"), rolePath: "/roles/owner", subjectPath: member.path },
    });
    await expectStatus(next, 401);
    await place.api.members.undeleteMember({ path: `${org}/members/@${member.id}` }).catch(() => {});
    await expectStatus(next, 401);
  });

  test("with its org, and is denied while the org is suspended", async () => {
    const { path } = await place.api.orgs.createOrg({ org: { name: uniqueName("other") } });
    const member = await createTokenMember(place.api, path);
    const token = await exchangeKey(place.servers[0], member.key);
    const projects = `${path}/projects`;
    for (const server of place.servers) expect(await statusWith(server, token, projects)).toBe(200);
    await place.api.orgs.suspendOrg({ path });
    for (const server of place.servers) expect(await statusWith(server, token, projects)).toBe(403);
    expect(await introspect(token, place.servers[0].operatorKey)).toMatchObject({
      active: false,
      ended_by: "ORG_SUSPENDED",
    });
    await place.api.orgs.activateOrg({ path });
    for (const server of place.servers) expect(await statusWith(server, token, projects)).toBe(200);
    const { customerPath } = await place.api.orgs.getOrg({ path });
    await place.api.customers.deleteCustomer({ path: customerPath });
    for (const server of place.servers) expect(await statusWith(server, token, projects)).toBe(401);
  });

  test("when it expires, by the clock of the database", async () => {
    const member = await newMember();
    const token = await exchangeKey(place.servers[0], member.key, { lifetime: "1" });
    await expect.poll(() => statusWith(place.servers[1], token, org)).toBe(401);
    expect(await introspect(token, member.key)).toMatchObject({ active: false, ended_by: "EXPIRED" });
  });

  test("also for a write that waits for the lock of its org", async () => {
    const member = await newMember("admin");
    const token = await exchangeKey(place.servers[0], member.key);
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    await sql.query("begin");
    const id = (await place.api.orgs.getOrg({ path: org })).id;
    await sql.query("select from orgs where id = $1 for no key update", [id]);
    const api = createApi("gRPC", place.servers[1].url, token);
    const revoked = sendForm(place.servers[0], "revoke", { token });
    const locked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    const waiting = async () => (await sql.query(locked)).length;
    await expect.poll(waiting).toBe(1);
    const late = failureOf(api.groups.createGroup({ parentPath: org, group: { name: uniqueName("late") } }));
    await expect.poll(waiting).toBe(2);
    await sql.query("commit");
    await sql.close();
    expect((await revoked).status).toBe(200);
    expect(await late).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_INVALID" });
  });
});

describe("tokens that were exchanged one for the other", () => {
  const exchange = async (credential: string): Promise<string> => {
    const client = createClient(TokensService, createTransport("gRPC", place.servers[0].url, credential));
    return (await client.issueToken({})).accessToken;
  };

  /** Exchanges an API key for a token, that one for the next, and so on. */
  const exchangeAll = async (key: string, count: number): Promise<string[]> => {
    const tokens: string[] = [];
    while (tokens.length < count) tokens.push(await exchange(tokens.at(-1) ?? key));
    return tokens;
  };

  test.each(rounds([0, 2, 4], [0, 1, 2, 3, 4]))("end with the revocation of an earlier one, %i", async (revoked) => {
    const member = await newMember();
    const tokens = await exchangeAll(member.key, 5);
    await sendForm(place.servers[0], "revoke", { token: tokens[revoked] ?? "" });
    for (const [index, token] of tokens.entries()) await expectStatus(token, index < revoked ? 200 : 401);
    for (const token of tokens.slice(revoked)) {
      expect(await introspect(token, member.key)).toMatchObject({ active: false, ended_by: "TOKEN_REVOKED" });
      expect((await failureOf(exchange(token))).reason).toBe("TOKEN_INVALID");
    }
  });

  test("are not refused with those that were exchanged for the same one", async () => {
    const member = await newMember();
    const [first = ""] = await exchangeAll(member.key, 1);
    const [next, other] = [await exchange(first), await exchange(first)];
    await sendForm(place.servers[0], "revoke", { token: next });
    await expectStatus(next, 401);
    await expectStatus(other, 200);
  });

  test("are at most five", async () => {
    const member = await newMember();
    const [first = "", ...next] = await exchangeAll(member.key, 5);
    expect(decodeJwt(first)).not.toHaveProperty("exchanged_from");
    const all = [first, ...next].map((token) => decodeJwt(token).jti);
    expect(decodeJwt(next.at(-1) ?? "")).toMatchObject({ exchanged_from: all.slice(0, -1) });
    expect(await failureOf(exchange(next.at(-1) ?? ""))).toMatchObject({ code: "PermissionDenied" });
  });

  test("end also for a write that waits for the lock of its org", async () => {
    const member = await newMember("admin");
    const [first = "", second = ""] = await exchangeAll(member.key, 2);
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    await sql.query("begin");
    const id = (await place.api.orgs.getOrg({ path: org })).id;
    await sql.query("select from orgs where id = $1 for no key update", [id]);
    const api = createApi("gRPC", place.servers[1].url, second);
    const revoked = sendForm(place.servers[0], "revoke", { token: first });
    const locked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    const waiting = async () => (await sql.query(locked)).length;
    await expect.poll(waiting).toBe(1);
    const late = failureOf(api.groups.createGroup({ parentPath: org, group: { name: uniqueName("late") } }));
    await expect.poll(waiting).toBe(2);
    await sql.query("commit");
    await sql.close();
    expect((await revoked).status).toBe(200);
    expect(await late).toMatchObject({ code: "Unauthenticated", reason: "TOKEN_INVALID" });
  });
});

describe("introspection", () => {
  test("tells a member without the permission nothing about the tokens of others", async () => {
    const [member, other] = [await newMember(), await newMember()];
    const token = await exchangeKey(place.servers[0], member.key);
    expect(await introspect(token, other.key)).toEqual({ active: false });
    expect(await introspect(token, member.key)).toMatchObject({ active: true, sub: member.id, username: member.path });
    expect(await introspect("nothing.of.this", member.key)).toEqual({ active: false });
  });

  test("serves a member with the role token-introspector", async () => {
    const [member, introspector] = [await newMember(), await newMember("token-introspector")];
    const token = await exchangeKey(place.servers[0], member.key);
    expect(await introspect(token, introspector.key)).toMatchObject({ active: true, org: expect.any(String) });
    const { path } = await place.api.orgs.createOrg({ org: { name: uniqueName("foreign") } });
    const foreign = await createTokenMember(place.api, path);
    const foreignToken = await exchangeKey(place.servers[0], foreign.key);
    expect(await introspect(foreignToken, introspector.key)).toEqual({ active: false });
  });

  test("is refused without credentials", async () => {
    const { status, body } = await sendForm(place.servers[0], "introspect", { token: "x" });
    expect({ status, error: body["error"] }).toEqual({ status: 401, error: "invalid_client" });
  });
});

/** Starts another server of the same service. */
async function startTokenServersLike({ servers, secretKeysFile }: SharedTokenServers) {
  const { startTestServer } = await import("../support/test-server.ts");
  return startTestServer({ issuer, secretKeysFile, databaseUrl: servers[0].databaseUrl });
}
