import { randomBytes } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { required } from "../../src/errors/required.ts";
import { createSealer } from "../../src/identity/sealer.ts";
import { createRefreshTokens } from "../../src/identity/tokens/refresh-token.ts";
import { readSecretKeys } from "../../src/installation/secret-keys-file.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { openSqlClient } from "../support/sql.ts";
import {
  type OAuthAnswer,
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

interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

function tokensIn({ status, body }: OAuthAnswer): Tokens {
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { access: String(body["access_token"]), refresh: String(body["refresh_token"]) };
}

async function start({ key }: TokenMember): Promise<Tokens> {
  const form = { grant_type: "client_credentials", client_secret: key, scope: "offline_access" };
  return tokensIn(await sendForm(place.servers[0], "token", form));
}

const refresh = (token: string, server = 1, headers: Record<string, string> = {}): Promise<OAuthAnswer> => {
  const form = { grant_type: "refresh_token", refresh_token: token };
  return sendForm(place.servers[server] ?? place.servers[0], "token", form, headers);
};

async function expectEnded({ access, refresh: token }: Tokens): Promise<void> {
  for (const server of place.servers) expect(await statusWith(server, access, org)).toBe(401);
  expect(await refresh(token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
}

const sessions = () =>
  createClient(SessionsService, createTransport("gRPC", place.servers[1].url, place.servers[0].operatorKey));

/** Lets time pass for a session. */
async function pass(token: string, interval: string): Promise<void> {
  const sql = await openSqlClient(place.servers[0].databaseUrl);
  await sql.query("update sessions set refresh_time = refresh_time - $1::interval where id = $2", [
    interval,
    decodeJwt(token)["sid"],
  ]);
  await sql.close();
}

describe.each(overFirst(protocols))("over %s", (protocol) => {
  test("a session is started, refreshed, read, listed and deleted", async () => {
    const member = await createTokenMember(place.api, org);
    const url = place.servers[0].url;
    const tokens = createClient(TokensService, createTransport(protocol, url, member.key));
    const first = await tokens.issueToken({ startSession: true });
    // Needs no credential besides the refresh token.
    const anonymous = createClient(TokensService, createTransport(protocol, place.servers[1].url, undefined));
    const second = await anonymous.refreshToken({ refreshToken: first.refreshToken });
    expect(await statusWith(place.servers[0], second.accessToken, org)).toBe(200);
    const client = createClient(SessionsService, createTransport(protocol, url, place.servers[0].operatorKey));
    const { sessions: listed } = await client.listSessions({ parentPath: member.path });
    const [session] = listed;
    expect(listed).toHaveLength(1);
    expect(session?.path).toBe(`${member.path}/sessions/@${String(decodeJwt(second.accessToken)["sid"])}`);
    expect(session?.refreshTime).toBeDefined();
    const path = session?.path ?? "";
    expect(await client.getSession({ path })).toEqual(session);
    await client.deleteSession({ path });
    await expectEnded({ access: second.accessToken, refresh: second.refreshToken });
    expect(await failureOf(client.getSession({ path }))).toMatchObject({ code: "NotFound" });
    expect(await failureOf(anonymous.refreshToken({ refreshToken: second.refreshToken }))).toMatchObject({
      code: "Unauthenticated",
      reason: "GRANT_INVALID",
    });
  });
});

describe.each([false, true])("with validate_only %s, a session", (validateOnly) => {
  const startWith = (credential: string) =>
    createClient(TokensService, createTransport("gRPC", place.servers[0].url, credential)).issueToken({
      startSession: true,
      validateOnly,
    });

  test("is started with an API key", async () => {
    const { key, path } = await createTokenMember(place.api, org);
    expect((await startWith(key)).expireTime).toBeDefined();
    expect((await sessions().listSessions({ parentPath: path })).sessions).toHaveLength(validateOnly ? 0 : 1);
  });

  test("is not started with an access token, and the error says so", async () => {
    const { key } = await createTokenMember(place.api, org);
    expect(await failureOf(startWith(await exchangeKey(place.servers[0], key)))).toMatchObject({
      code: "PermissionDenied",
      message: "a session is started with an API key: the credential of the call is an access token",
    });
  });

  test("is not started with a limited API key, and the error says so", async () => {
    const admin = await createTokenMember(place.api, org, "admin");
    const member = { name: uniqueName("person") };
    const { path: parentPath } = await place.api.members.createMember({ parentPath: org, member });
    const { apiKeys } = createApi("gRPC", place.servers[0].url, admin.key);
    const { secret = "" } = await apiKeys.createApiKey({ parentPath, apiKey: { name: "ci" } });
    expect(await failureOf(startWith(secret))).toMatchObject({
      code: "PermissionDenied",
      message: "a limited API key cannot start a session: its member or an owner of the org must confirm the key first",
      metadata: { limited: "true" },
    });
  });
});

describe("a refresh token", () => {
  test("that is sent again soon gets the same successor", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    const first = tokensIn(await refresh(tokens.refresh));
    const again = tokensIn(await refresh(tokens.refresh, 0));
    expect(again.refresh).toBe(first.refresh);
    const next = tokensIn(await refresh(first.refresh));
    expect(await statusWith(place.servers[0], next.access, org)).toBe(200);
  });

  test("that somebody else sends again soon ends its session, and gets nothing", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    const next = tokensIn(await refresh(tokens.refresh));
    expect((await refresh(tokens.refresh, 0, { "user-agent": "another program" })).body).toMatchObject({
      error: "invalid_grant",
    });
    await expectEnded(next);
  });

  test("that somebody else sends first ends its session when its client sends it soon", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    const stolen = tokensIn(await refresh(tokens.refresh, 0, { "user-agent": "another program" }));
    expect((await refresh(tokens.refresh)).status).toBe(400);
    await expectEnded(stolen);
  });

  test("that is repeated after a refresh by a server of an earlier version gets the same successor from everywhere", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    const first = tokensIn(await refresh(tokens.refresh));
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    const { sid } = decodeJwt(tokens.access);
    await sql.query("update sessions set refresh_origin = null where id = $1", [sid]);
    await sql.close();
    const again = tokensIn(await refresh(tokens.refresh, 0, { "user-agent": "another program" }));
    expect(again.refresh).toBe(first.refresh);
  });

  test("is checked without telling whether it was replaced, and without ending anything", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    const url = place.servers[0].url;
    const check = (refreshToken: string) =>
      createClient(TokensService, createTransport("gRPC", url, undefined)).refreshToken({
        refreshToken,
        lifetime: { seconds: 60n, nanos: 0 },
        validateOnly: true,
      });
    const second = tokensIn(await refresh(tokens.refresh));
    const third = tokensIn(await refresh(second.refresh));
    const answers = await Promise.all([tokens, second, third].map(({ refresh: text }) => check(text)));
    expect(answers).toEqual(
      answers.map(() => expect.objectContaining({ accessToken: "", refreshToken: "", expireTime: expect.anything() })),
    );
    tokensIn(await refresh(third.refresh));
    await refresh(tokens.refresh);
    expect(await failureOf(check(third.refresh))).toMatchObject({ reason: "GRANT_INVALID" });
  });

  test("that is sent again later ends its session", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    const next = tokensIn(await refresh(tokens.refresh));
    await pass(tokens.access, "31 s");
    expect((await refresh(tokens.refresh)).status).toBe(400);
    await expectEnded(next);
  });

  test("that was replaced twice ends its session, even at once", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    const next = tokensIn(await refresh(tokensIn(await refresh(tokens.refresh)).refresh));
    expect((await refresh(tokens.refresh)).status).toBe(400);
    await expectEnded(next);
  });

  test("that was never issued ends nothing", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    const next = tokensIn(await refresh(tokens.refresh));
    const [head = ""] = next.refresh.split(/(?<=^tenantry_refresh_[0-9a-f]+)_/);
    const signature = next.refresh.slice(head.length + 1);
    const forged = [
      `${head}_${randomBytes(32).toString("base64url")}`,
      `${head.slice(0, -1)}0_${signature}`,
      `${head}0_${signature}`,
      `${next.refresh}x`,
      next.refresh.toUpperCase(),
    ];
    for (const text of forged) expect((await refresh(text)).status).toBe(400);
    expect(await statusWith(place.servers[0], next.access, org)).toBe(200);
    tokensIn(await refresh(next.refresh));
  });

  test("says the customer of its session, and works without it, as servers of an earlier version make them", async () => {
    const sealer = createSealer((await readSecretKeys("", place.secretKeysFile)).keys);
    const { format, parse } = createRefreshTokens(sealer);
    const { customerPath } = await place.api.orgs.getOrg({ path: org });
    const { id: customerId } = await place.api.customers.getCustomer({ path: customerPath });
    const tokens = await start(await createTokenMember(place.api, org));
    const token = required(parse(tokens.refresh));
    expect(token).toMatchObject({ customerId, number: 0n });
    // No session of another customer is found.
    const ofOther = format({ ...token, customerId: token.sessionId });
    expect((await refresh(ofOther)).status).toBe(400);
    const next = tokensIn(await refresh(format({ ...token, customerId: undefined })));
    expect(await statusWith(place.servers[0], next.access, org)).toBe(200);
    expect(parse(next.refresh)).toEqual({ ...token, number: 1n });
    const form = { token: format({ ...token, customerId: undefined, number: 1n }) };
    expect((await sendForm(place.servers[0], "revoke", form)).status).toBe(200);
    await expectEnded(next);
  });

  test("is no credential of a call", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    expect(await statusWith(place.servers[0], tokens.refresh, org)).toBe(401);
  });

  test("of 16 requests at once leads to one family", async () => {
    for (let round = 0; round < rounds(1, 1_000); round++) {
      let { refresh: current } = await start(await createTokenMember(place.api, org));
      const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => refresh(current, index % 2)));
      const successors = new Set(answers.map((answer) => tokensIn(answer).refresh));
      expect(successors.size).toBe(1);
      [current = ""] = successors;
      const next = tokensIn(await refresh(current));
      expect(successors.has(next.refresh)).toBe(false);
      expect(await statusWith(place.servers[0], next.access, org)).toBe(200);
    }
  });

  test("and the revocation of its session at once leave no token that works", async () => {
    for (let round = 0; round < rounds(2, 200); round++) {
      const member = await createTokenMember(place.api, org);
      const tokens = await start(member);
      const path = `${member.path}/sessions/@${String(decodeJwt(tokens.access)["sid"])}`;
      const [answer] = await Promise.all([refresh(tokens.refresh), sessions().deleteSession({ path })]);
      await expectEnded(tokens);
      if (answer.status === 200) await expectEnded(tokensIn(answer));
    }
  });
});

describe("a session ends with its tokens", () => {
  const ways: Readonly<Record<string, (member: TokenMember, tokens: Tokens) => Promise<unknown>>> = {
    "when its refresh token is revoked": (_member, tokens) =>
      sendForm(place.servers[0], "revoke", { token: tokens.refresh }),
    "when its API key is deleted": ({ keyPath }) => place.api.apiKeys.deleteApiKey({ path: keyPath }),
    "when all tokens of the member are revoked": ({ path }) => place.api.members.revokeTokens({ path }),
    "when the member is suspended, also after it is activated": async ({ path }) => {
      await place.api.members.suspendMember({ path });
      await place.api.members.activateMember({ path });
    },
    "when the member is deleted": ({ path }) => place.api.members.deleteMember({ path }),
  };

  test.each(Object.keys(ways))("%s", async (way) => {
    const member = await createTokenMember(place.api, org);
    const tokens = await start(member);
    const other = await start(member);
    expect(await statusWith(place.servers[1], tokens.access, org)).toBe(200);
    await ways[way]?.(member, tokens);
    await expectEnded(tokens);
    if (way !== "when its refresh token is revoked") await expectEnded(other);
    else expect(await statusWith(place.servers[1], other.access, org)).toBe(200);
  });

  test("when it expires", async () => {
    const tokens = await start(await createTokenMember(place.api, org));
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    await sql.query("update sessions set expire_time = now() where id = $1", [decodeJwt(tokens.access)["sid"]]);
    await sql.close();
    expect((await refresh(tokens.refresh)).status).toBe(400);
  });
});

test("revoking all tokens leaves the API keys, which get new ones", async () => {
  const member = await createTokenMember(place.api, org);
  const tokens = await start(member);
  await place.api.members.revokeTokens({ path: member.path });
  await expectEnded(tokens);
  const next = await start(member);
  expect(await statusWith(place.servers[1], next.access, org)).toBe(200);
  expect(decodeJwt(next.access)["gen"]).not.toBe("0");
});

test("a member cannot revoke the tokens of another without the permission", async () => {
  const [member, other] = [await createTokenMember(place.api, org), await createTokenMember(place.api, org)];
  const api = createApi("gRPC", place.servers[0].url, other.key);
  expect(await failureOf(api.members.revokeTokens({ path: member.path }))).toMatchObject({
    metadata: { permission: "iam.members.revokeTokens" },
  });
});

describe("too many sessions", () => {
  /** Starts 98 more sessions like that of a token, which are newer than all others. */
  async function startLike(token: string): Promise<void> {
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    await sql.query(
      `insert into sessions (customer_id, org_id, member_id, id, client_id, api_key_id, user_agent, expire_time, changed_revision)
       select customer_id, org_id, member_id, ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, client_id, api_key_id, '',
         expire_time, changed_revision
       from sessions, generate_series(1, 98) as n where id = $1`,
      [decodeJwt(token)["sid"]],
    );
    await sql.close();
  }

  async function countSessions({ id }: TokenMember): Promise<number> {
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    const rows = await sql.query("select from sessions where member_id = $1", [id]);
    await sql.close();
    return rows.length;
  }

  test("of a key end the oldest of this key", async () => {
    const member = await createTokenMember(place.api, org);
    const oldest = await start(member);
    await startLike(oldest.access);
    const second = await start(member);
    expect(await statusWith(place.servers[1], oldest.access, org)).toBe(200);
    await start(member);
    await expectEnded(oldest);
    expect(await statusWith(place.servers[1], second.access, org)).toBe(200);
    expect(await countSessions(member)).toBe(100);
  });

  test("of a narrowed key end none of another key, of a client or of a browser", async () => {
    const member = await createTokenMember(place.api, org);
    const ofKey = await start(member);
    const sql = await openSqlClient(place.servers[0].databaseUrl);
    await sql.query(
      `insert into sessions (customer_id, org_id, member_id, id, client_id, oauth_client_id, client_org_id, user_agent, expire_time, changed_revision)
       select customer_id, org_id, member_id, gen_random_uuid(), name, client, case when client is not null then org_id end, '', expire_time,
         changed_revision
       from sessions, (values ('browser', null), ('client', gen_random_uuid())) as others (name, client) where id = $1`,
      [decodeJwt(ofKey.access)["sid"]],
    );
    await sql.close();
    const apiKey = { name: "narrowed", scopes: ["iam.members.get"] };
    const { secret = "" } = await place.api.apiKeys.createApiKey({ parentPath: member.path, apiKey });
    const narrowed = { ...member, key: secret };
    const oldest = await start(narrowed);
    await startLike(oldest.access);
    await start(narrowed);
    await start(narrowed);
    await expectEnded(oldest);
    const { sessions: left } = await sessions().listSessions({ parentPath: member.path, pageSize: 1_000 });
    expect(left).toHaveLength(103);
    expect(left.map(({ clientId }) => clientId)).toEqual(expect.arrayContaining(["browser", "client"]));
    expect(await statusWith(place.servers[1], ofKey.access, org)).toBe(200);
  });
});
