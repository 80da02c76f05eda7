// The authorization code grant with PKCE: registered clients, consent, and the attacks on both. On two servers with one database.
import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import * as oauth from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client } from "../../gen/iam/v1alpha/client_pb.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { findRedirectUriProblem, isRegisteredUri } from "../../src/iam/clients/redirect-uri.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { type Api, uniqueName } from "../support/api.ts";
import { rounds } from "../support/rounds.ts";
import {
  type OAuthAnswer,
  type TokenMember,
  type TokenServers,
  createTokenMember,
  issuer,
  sendForm,
  startTokenServers,
  statusWith,
} from "../support/token-servers.ts";

const redirectUri = "https://app.example.com/callback";

let place: TokenServers;
let database: Database;
let api: Api;
let org: { readonly path: string; readonly id: string };
let member: TokenMember;
let cookie: string;
let client: Client;
let confidential: Client;

beforeAll(async () => {
  place = await startTokenServers();
  ({ api } = place);
  const connection = { connectionString: place.servers[0].databaseUrl };
  const onConnectionError = (): void => {};
  database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 2, onConnectionError });
  org = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
  member = await createTokenMember(api, org.path, "owner");
  cookie = await signIn(org, member);
  client = await register(org.path);
  confidential = await register(org.path, { confidential: true });
});
afterAll(async () => {
  await database.close();
  await place.close();
});

const register = (parentPath: string, fields: object = {}): Promise<Client> =>
  api.clients.createClient({
    parentPath,
    client: { name: uniqueName("app"), displayName: "The <app>", redirectUris: [redirectUri], ...fields },
  });

const ofPage = { "sec-fetch-site": "same-origin" };

function send(path: string, init: RequestInit = {}, server = 0): Promise<Response> {
  return fetch(`${place.servers[server]?.url}${path}`, { redirect: "manual", ...init });
}

/** Signs a browser in, which has the cookie `before`, and returns its new cookie. */
async function signIn(
  { id: orgId }: { readonly id: string },
  { id: memberId }: TokenMember,
  before = "",
): Promise<string> {
  const body = new URLSearchParams({ code: await createSignInLink(database, { orgId, memberId }) });
  const response = await send("/sign-in/code", { method: "POST", body, headers: { ...ofPage, cookie: before } });
  expect(response.status).toBe(303);
  return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

function newPkce(): Pkce {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

type Changes = Readonly<Record<string, string | undefined>>;

/** Returns the query of a request for a code. Undefined leaves a parameter out. */
function queryOf(pkce: Pkce, changes: Changes = {}): string {
  const all: Changes = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: redirectUri,
    code_challenge: pkce.challenge,
    code_challenge_method: "S256",
    state: "a state & more",
    scope: "iam.orgs.get offline_access",
    ...changes,
  };
  const given = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  );
  return new URLSearchParams(given).toString();
}

const ask = (query: string, headers: Record<string, string> = { cookie }) =>
  send(`/oauth2/authorize?${query}`, { headers });

function decide(query: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const body = new URLSearchParams({ request: query, member: member.path, decision: "allow", ...form });
  return send("/oauth2/authorize/decision", { method: "POST", body, headers: { ...ofPage, cookie, ...headers } }, 1);
}

const locationOf = (response: Response): URL => new URL(response.headers.get("location") ?? "", "http://none");

async function newCode(pkce: Pkce, changes: Changes = {}, form: Record<string, string> = {}): Promise<string> {
  const response = await decide(queryOf(pkce, changes), form);
  expect(response.status).toBe(303);
  return locationOf(response).searchParams.get("code") ?? "";
}

const redeem = (code: string, { verifier }: Pkce, changes: Record<string, string> = {}, server = 0) =>
  sendForm(place.servers[server] ?? place.servers[0], "token", {
    grant_type: "authorization_code",
    client_id: client.id,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    code,
    ...changes,
  });

const refresh = ({ body }: OAuthAnswer, changes: Record<string, string> = {}, server = 0) =>
  sendForm(place.servers[server] ?? place.servers[0], "token", {
    grant_type: "refresh_token",
    refresh_token: String(body["refresh_token"]),
    ...changes,
  });

const accessTokenOf = ({ body }: OAuthAnswer): string => String(body["access_token"]);

async function statusesOf(answer: OAuthAnswer): Promise<number[]> {
  const token = accessTokenOf(answer);
  return Promise.all(place.servers.map((server) => statusWith(server, token, org.path)));
}

describe("a client that people allow to act for them", () => {
  test.each([
    ["public", () => client, () => oauth.None()],
    ["confidential", () => confidential, () => oauth.ClientSecretBasic(confidential.secret)],
    [
      "confidential, with its secret in the body",
      () => confidential,
      () => oauth.ClientSecretPost(confidential.secret),
    ],
  ])("%s: openid-client finds the service, gets a code and tokens, refreshes and revokes", async (_kind, of, auth) => {
    let calls = 0;
    const customFetch = ((url: string, init: RequestInit) =>
      send(url.replace(issuer, ""), init, calls++ % 2)) as oauth.CustomFetch;
    const config = await oauth.discovery(new URL(issuer), of().id, undefined, auth(), {
      [oauth.customFetch]: customFetch,
    });
    expect(config.serverMetadata()).toMatchObject({
      authorization_endpoint: `${issuer}/oauth2/authorize`,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    });
    const pkceCodeVerifier = oauth.randomPKCECodeVerifier();
    const state = oauth.randomState();
    const url = oauth.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: "iam.orgs.get offline_access",
      code_challenge: await oauth.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      state,
    });
    const page = await (await ask(url.search.slice(1))).text();
    expect(page).toContain("The &lt;app&gt;");
    expect(page).toContain("Get orgs (iam)");
    const allowed = await decide(url.search.slice(1));
    const checks = { pkceCodeVerifier, expectedState: state };
    const tokens = await oauth.authorizationCodeGrant(config, locationOf(allowed), checks);
    expect(tokens).toMatchObject({ scope: "iam.orgs.get", expires_in: 3_600 });
    expect(await statusWith(place.servers[1], tokens.access_token, org.path)).toBe(200);
    expect(await statusWith(place.servers[1], tokens.access_token, member.path)).toBe(403);
    const next = await oauth.refreshTokenGrant(config, tokens.refresh_token ?? "");
    const { sessions } = await api.sessions.listSessions({
      parentPath: member.path,
      filter: `client_id = "${of().id}"`,
    });
    expect(sessions.at(-1)).toMatchObject({
      clientId: of().id,
      clientDisplayName: "The <app>",
      scopes: ["iam.orgs.get"],
    });
    await oauth.tokenRevocation(config, next.refresh_token ?? "");
    expect(await statusWith(place.servers[0], next.access_token, org.path)).toBe(401);
    await expect(oauth.refreshTokenGrant(config, next.refresh_token ?? "")).rejects.toMatchObject({
      error: "invalid_grant",
    });
  });

  test("sends who is not signed in to the sign-in, and back", async () => {
    const query = queryOf(newPkce(), { prompt: "login" });
    for (const headers of [{ cookie: "" }, { cookie }]) {
      const location = locationOf(await ask(query, headers));
      expect(location.pathname).toBe("/sign-in");
      const back = location.searchParams.get("return_to") ?? "";
      const page = await send(back, { headers: { cookie } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("Allow")]);
    }
  });

  test("is told when a person denies, and what it may not ask for without a page", async () => {
    const denied = await decide(queryOf(newPkce()), { decision: "deny" });
    expect(Object.fromEntries(locationOf(denied).searchParams)).toEqual({
      error: "access_denied",
      error_description: "the person did not allow it",
      state: "a state & more",
      iss: issuer,
    });
    const silent = queryOf(newPkce(), { prompt: "none" });
    expect(locationOf(await ask(silent)).searchParams.get("error")).toBe("consent_required");
    expect(locationOf(await ask(silent, {})).searchParams.get("error")).toBe("login_required");
  });

  test("asks with a form from its own page, too", async () => {
    const body = new URLSearchParams(queryOf(newPkce()));
    const response = await send("/oauth2/authorize", { method: "POST", body });
    const page = await send(response.headers.get("location") ?? "", { headers: { cookie } });
    expect([response.status, page.status]).toEqual([303, 200]);
  });

  test("without offline_access gets no refresh token", async () => {
    const pkce = newPkce();
    const { body } = await redeem(await newCode(pkce, { scope: "iam.orgs.get" }), pkce);
    expect(body["refresh_token"]).toBeUndefined();
  });

  test("gets no more than it may ask for", async () => {
    const narrow = await register(org.path, { scopes: ["iam.orgs.*"] });
    const askFor = async (scope: string | undefined) =>
      locationOf(await ask(queryOf(newPkce(), { client_id: narrow.id, scope }))).searchParams.get("error");
    expect([await askFor("iam.members.get"), await askFor("*"), await askFor("nonsense")]).toEqual(
      Array.from({ length: 3 }, () => "invalid_scope"),
    );
    const pkce = newPkce();
    const code = await newCode(pkce, { client_id: narrow.id, scope: undefined });
    expect((await redeem(code, pkce, { client_id: narrow.id })).body["scope"]).toBe("iam.orgs.*");
  });

  test("serves the members of its org; one of the org system serves everybody", async () => {
    const other = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
    const foreign = await register(other.path);
    const query = queryOf(newPkce(), { client_id: foreign.id });
    expect((await ask(query)).status).toBe(403);
    expect((await decide(query)).status).toBe(400);
    const common = await register("/orgs/system");
    const pkce = newPkce();
    const tokens = await redeem(await newCode(pkce, { client_id: common.id }), pkce, { client_id: common.id });
    expect(await statusesOf(tokens)).toEqual([200, 200]);
    await api.clients.deleteClient({ path: common.path });
    expect(await statusesOf(tokens)).toEqual([401, 401]);
    expect((await refresh(tokens)).body["error"]).toBe("invalid_grant");
  });
});

describe("a code", () => {
  test.each<readonly [string, Record<string, string>, string]>([
    ["another redirect URI", { redirect_uri: "https://app.example.com/other" }, "invalid_grant"],
    ["another verifier", { code_verifier: "x".repeat(43) }, "invalid_grant"],
    ["the challenge as its verifier", { code_verifier: "" }, "invalid_request"],
    ["no redirect URI", { redirect_uri: "" }, "invalid_request"],
    ["no client", { client_id: "" }, "invalid_client"],
    ["an API key as its client", { client_id: "tenantry_abc" }, "invalid_client"],
    ["a client that does not exist", { client_id: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b" }, "invalid_client"],
    ["a secret that the client does not have", { client_secret: "secret" }, "invalid_client"],
  ])("is refused with %s, and works afterwards", async (_what, changes, error) => {
    const pkce = newPkce();
    const code = await newCode(pkce);
    expect((await redeem(code, pkce, changes)).body["error"]).toBe(error);
    expect((await redeem(code, pkce)).status).toBe(200);
  });

  test("of one client is not accepted from another, nor without its secret", async () => {
    const pkce = newPkce();
    const code = await newCode(pkce, { client_id: confidential.id });
    const of = (id: string, secret = "") => redeem(code, pkce, { client_id: id, client_secret: secret });
    const other = await register(org.path, { confidential: true });
    expect((await of(client.id)).body["error"]).toBe("invalid_grant");
    expect((await of(other.id, other.secret)).body["error"]).toBe("invalid_grant");
    for (const secret of ["", "wrong", other.secret, member.key]) {
      expect((await of(confidential.id, secret)).body["error"]).toBe("invalid_client");
    }
    const tokens = await of(confidential.id, confidential.secret);
    expect(tokens.status).toBe(200);
    expect((await refresh(tokens)).body["error"]).toBe("invalid_grant");
    expect((await refresh(tokens, { client_id: client.id })).body["error"]).toBe("invalid_grant");
    const own = { client_id: confidential.id, client_secret: confidential.secret ?? "" };
    expect((await refresh(tokens, own)).status).toBe(200);
  });

  test("that is used again ends the session that it made, on both servers", async () => {
    const pkce = newPkce();
    const code = await newCode(pkce);
    const tokens = await redeem(code, pkce);
    expect(await statusesOf(tokens)).toEqual([200, 200]);
    // The client itself may have sent its request twice.
    expect((await redeem(code, pkce, {}, 1)).body["error"]).toBe("invalid_grant");
    expect(await statusesOf(tokens)).toEqual([200, 200]);
    // Somebody who has the code, but not the verifier.
    expect((await redeem(code, newPkce(), {}, 1)).body["error"]).toBe("invalid_grant");
    expect(await statusesOf(tokens)).toEqual([401, 401]);
    expect((await refresh(tokens)).body["error"]).toBe("invalid_grant");
  });

  test("that its client uses again later ends the session, too", async () => {
    const pkce = newPkce();
    const code = await newCode(pkce);
    const tokens = await redeem(code, pkce);
    await sql`
      update authorization_codes set use_time = use_time - interval '5 s', expire_time = expire_time - interval '60 s'
      where session_id is not null`.execute(database.writes);
    expect((await redeem(code, pkce)).body["error"]).toBe("invalid_grant");
    expect(await statusesOf(tokens)).toEqual([401, 401]);
  });

  test("leads to one session, which goes on, with 16 requests at once", async () => {
    for (let round = 0; round < rounds(1, 1_000); round++) {
      const pkce = newPkce();
      const code = await newCode(pkce);
      const answers = await Promise.all(Array.from({ length: 16 }, (_, at) => redeem(code, pkce, {}, at % 2)));
      const [tokens, ...others] = answers.filter(({ status }) => status === 200);
      expect([others, answers.filter(({ status }) => status === 400)]).toEqual([
        [],
        expect.objectContaining({ length: 15 }),
      ]);
      const next = await refresh(tokens as OAuthAnswer);
      expect(await statusesOf(next)).toEqual([200, 200]);
      // A member has a hundred sessions, and the oldest is that of the browser.
      const body = new URLSearchParams({ token: String(next.body["refresh_token"]), client_id: client.id });
      const ended = await fetch(`${place.servers[0].url}/oauth2/revoke`, { method: "POST", body });
      expect(ended.status).toBe(200);
    }
  });

  test("ends after a minute", async () => {
    const pkce = newPkce();
    const code = await newCode(pkce);
    await sql`update authorization_codes set expire_time = clock_timestamp()`.execute(database.writes);
    expect((await redeem(code, pkce)).body["error"]).toBe("invalid_grant");
  });

  test.each<readonly [string, (path: string) => Promise<unknown>]>([
    ["all tokens of its member were revoked", (path) => api.members.revokeTokens({ path })],
    ["its member was suspended", (path) => api.members.suspendMember({ path })],
    ["its member was deleted", (path) => api.members.deleteMember({ path })],
  ])("is refused after %s", async (_what, end) => {
    const other = await createTokenMember(api, org.path);
    const pkce = newPkce();
    const code = await newCodeOf(other, pkce);
    await end(other.path);
    expect((await redeem(code, pkce)).body["error"]).toBe("invalid_grant");
  });

  test.each<readonly [string, (browser: string, other: TokenMember) => Promise<unknown>]>([
    ["the sign-out of its browser", (browser) => signOut(browser)],
    ["another sign-in of its browser", (browser, other) => signIn(org, other, browser)],
    ["the deletion of the session of its browser", (_browser, { path }) => deleteBrowserSession(path)],
    ["the expiry of the session of its browser", (_browser, { id }) => expireBrowserSession(id)],
  ])("ends with %s, and the session that its client has goes on", async (_what, end) => {
    const other = await createTokenMember(api, org.path);
    const [ofOther, elsewhere] = [await signIn(org, other), await signIn(org, other)];
    const [before, late] = [newPkce(), newPkce()];
    const tokens = await redeem(await newCodeOf(other, before, ofOther), before);
    const code = await newCodeOf(other, late, ofOther);
    await end(ofOther, other);
    expect((await redeem(code, late)).body["error"]).toBe("invalid_grant");
    expect(await statusesOf(tokens)).toEqual([200, 200]);
    const next = await refresh(tokens);
    expect(await statusesOf(next)).toEqual([200, 200]);
    await signOut(elsewhere);
    expect(await statusesOf(next)).toEqual([200, 200]);
  });

  test("does not end with the sign-out of another browser", async () => {
    const other = await createTokenMember(api, org.path);
    const [ofOther, elsewhere] = [await signIn(org, other), await signIn(org, other)];
    const pkce = newPkce();
    const code = await newCodeOf(other, pkce, ofOther);
    await signOut(elsewhere);
    expect((await redeem(code, pkce)).status).toBe(200);
  });

  test("of a server of an earlier version, which does not know the session of its browser, is redeemed", async () => {
    const pkce = newPkce();
    const code = await newCode(pkce);
    await sql`update authorization_codes set allowing_session_id = null where session_id is null`.execute(
      database.writes,
    );
    expect((await redeem(code, pkce)).status).toBe(200);
  });

  async function newCodeOf(other: TokenMember, pkce: Pkce, browser?: string): Promise<string> {
    const headers = { cookie: browser ?? (await signIn(org, other)) };
    const response = await decide(queryOf(pkce), { member: other.path }, headers);
    return locationOf(response).searchParams.get("code") ?? "";
  }

  async function signOut(browser: string): Promise<void> {
    const headers = { ...ofPage, cookie: browser };
    const response = await send("/sign-out", { method: "POST", body: new URLSearchParams(), headers }, 1);
    expect(response.status).toBe(303);
  }

  /** Deletes the first of the sessions that a member has in browsers. */
  async function deleteBrowserSession(parentPath: string): Promise<void> {
    const { sessions } = await api.sessions.listSessions({ parentPath, filter: `client_id = "browser"` });
    await api.sessions.deleteSession({ path: sessions[0]?.path ?? "" });
  }

  const expireBrowserSession = (memberId: string) =>
    sql`
      update browser_sessions set expire_time = clock_timestamp()
      where id in (select browser_session_id from sessions where member_id = ${memberId})`.execute(database.writes);
});

describe("a client", () => {
  test("that is deleted gets no codes, and its tokens end on both servers", async () => {
    const gone = await register(org.path);
    const [pkce, late] = [newPkce(), newPkce()];
    const tokens = await redeem(await newCode(pkce, { client_id: gone.id }), pkce, { client_id: gone.id });
    const code = await newCode(late, { client_id: gone.id });
    expect(await statusesOf(tokens)).toEqual([200, 200]);
    await api.clients.deleteClient({ path: gone.path });
    expect(await statusesOf(tokens)).toEqual([401, 401]);
    expect((await ask(queryOf(late, { client_id: gone.id }))).status).toBe(400);
    expect((await redeem(code, late, { client_id: gone.id })).body["error"]).toBe("invalid_client");
    expect((await refresh(tokens)).body["error"]).toBe("invalid_grant");
    const { sessions } = await api.sessions.listSessions({
      parentPath: member.path,
      filter: `client_id = "${gone.id}"`,
    });
    expect(sessions).toEqual([]);
  });

  test("of a suspended org gets no codes, and refreshes nothing", async () => {
    const other = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
    const own = await register(other.path);
    const person = await createTokenMember(api, other.path);
    const ofPerson = await signIn(other, person);
    const codeFor = async (pkce: Pkce): Promise<string> => {
      const query = queryOf(pkce, { client_id: own.id });
      return (
        locationOf(await decide(query, { member: person.path }, { cookie: ofPerson })).searchParams.get("code") ?? ""
      );
    };
    const [pkce, late] = [newPkce(), newPkce()];
    const tokens = await redeem(await codeFor(pkce), pkce, { client_id: own.id });
    const code = await codeFor(late);
    await api.orgs.suspendOrg({ path: other.path });
    expect((await ask(queryOf(late, { client_id: own.id }), { cookie: ofPerson })).status).toBe(400);
    expect((await redeem(code, late, { client_id: own.id })).body["error"]).toBe("invalid_client");
    expect((await refresh(tokens)).body["error"]).toBe("invalid_grant");
  });

  test("has two secrets during the overlap of a rotation", async () => {
    const first = await register(org.path, { confidential: true });
    const rotate = (seconds: number) =>
      api.clients.rotateClient({ path: first.path, overlap: { seconds: BigInt(seconds) } });
    const isAccepted = async (secret = ""): Promise<boolean> => {
      const answer = await redeem("none", newPkce(), { client_id: first.id, client_secret: secret });
      return answer.body["error"] === "invalid_grant";
    };
    const second = await rotate(60);
    expect([await isAccepted(first.secret), await isAccepted(second.secret)]).toEqual([true, true]);
    const third = await rotate(0);
    const accepted = [first, second, third].map(({ secret }) => isAccepted(secret));
    expect(await Promise.all(accepted)).toEqual([false, false, true]);
    expect((await api.clients.getClient({ path: first.path })).secret).toBeUndefined();
    await expect(api.clients.rotateClient({ path: client.path })).rejects.toThrow("confidential");
  });
});

describe("a request for a code", () => {
  test.each<readonly [string, Changes]>([
    ["another path", { redirect_uri: `${redirectUri}/` }],
    ["another path below", { redirect_uri: `${redirectUri}/../other` }],
    ["another host", { redirect_uri: "https://app.example.com.evil.example/callback" }],
    ["another scheme", { redirect_uri: "http://app.example.com/callback" }],
    ["a query", { redirect_uri: `${redirectUri}?next=https://evil.example` }],
    ["a fragment", { redirect_uri: `${redirectUri}#x` }],
    ["a user name", { redirect_uri: "https://app.example.com@evil.example/callback" }],
    ["capitals", { redirect_uri: "https://APP.example.com/callback" }],
    ["a port", { redirect_uri: "https://app.example.com:443/callback" }],
    ["a script", { redirect_uri: "javascript:alert(1)" }],
    ["nothing", { redirect_uri: undefined }],
    ["an unknown client", { client_id: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b" }],
    ["the prefix of an API key", { client_id: "tenantry_abc" }],
  ])("that names %s redirects nowhere", async (_what, changes) => {
    const response = await ask(queryOf(newPkce(), changes));
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
    const decided = await decide(queryOf(newPkce(), changes));
    expect([decided.status, decided.headers.get("location")]).toEqual([400, null]);
  });

  test("that names its redirect URI twice redirects nowhere", async () => {
    const query = `${queryOf(newPkce())}&redirect_uri=${encodeURIComponent("https://evil.example")}`;
    expect((await ask(query)).headers.get("location")).toBeNull();
  });

  test.each<readonly [string, Changes, string]>([
    ["without PKCE", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    ["with the method plain", { code_challenge_method: "plain" }, "invalid_request"],
    ["without a method, which would be plain", { code_challenge_method: undefined }, "invalid_request"],
    ["with a challenge that is no SHA-256", { code_challenge: "short" }, "invalid_request"],
    ["for a token", { response_type: "token" }, "unsupported_response_type"],
    ["for a code and a token", { response_type: "code token" }, "unsupported_response_type"],
    ["for a fragment", { response_mode: "fragment" }, "invalid_request"],
    ["in a request object", { request: "x" }, "request_not_supported"],
    ["at another address", { request_uri: "https://evil.example" }, "request_uri_not_supported"],
    ["with a prompt that does not exist", { prompt: "create" }, "invalid_request"],
  ])("%s is refused, to the client", async (_what, changes, error) => {
    const { origin, searchParams } = locationOf(await ask(queryOf(newPkce(), changes)));
    expect([origin, searchParams.get("error"), searchParams.get("iss"), searchParams.get("state")]).toEqual([
      "https://app.example.com",
      error,
      issuer,
      "a state & more",
    ]);
  });

  test("is answered with the issuer, so that clients notice a mix-up", async () => {
    const { searchParams } = locationOf(await decide(queryOf(newPkce())));
    expect([searchParams.get("iss"), searchParams.get("state")]).toEqual([issuer, "a state & more"]);
    const config = new oauth.Configuration({ issuer: "https://other.example" }, client.id);
    const url = new URL(`${redirectUri}?${searchParams.toString()}`);
    const checks = { pkceCodeVerifier: "x".repeat(43), expectedState: "a state & more" };
    await expect(oauth.authorizationCodeGrant(config, url, checks)).rejects.toMatchObject({
      cause: { message: expect.stringContaining("iss") as string },
    });
  });
});

describe("a page of another site", () => {
  test.each([
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another host of its site", { "sec-fetch-site": "same-site" }],
    ["no page", { "sec-fetch-site": "none" }],
  ])("allows nothing: %s", async (_what, headers) => {
    const response = await decide(queryOf(newPkce()), {}, headers);
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  });

  test("allows nothing without the header, and nothing by GET", async () => {
    const query = queryOf(newPkce());
    const form = new URLSearchParams({ request: query, member: member.path, decision: "allow" });
    const bare = await send("/oauth2/authorize/decision", { method: "POST", body: form, headers: { cookie } });
    const got = await send(`/oauth2/authorize/decision?${form.toString()}`, { headers: { cookie, ...ofPage } });
    expect([bare.status, got.headers.get("location")]).toEqual([400, null]);
  });

  test("cannot frame the page, and loads no script into it", async () => {
    const { headers } = await ask(queryOf(newPkce()));
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect([headers.get("cache-control"), headers.get("referrer-policy")]).toEqual(["no-store", "no-referrer"]);
  });
});

test("a person allows a client as who it is signed in only", async () => {
  const other = await createTokenMember(api, org.path);
  const query = queryOf(newPkce());
  for (const [path, headers] of [
    [other.path, { cookie }],
    [member.path, { cookie: "" }],
    [member.path, { cookie: `__Host-tenantry=${"x".repeat(75)}` }],
  ] as const) {
    const response = await decide(query, { member: path }, headers);
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  }
});

test("codes, secrets and tokens are in no table and no change", async () => {
  const pkce = newPkce();
  const code = await newCode(pkce, { client_id: confidential.id });
  const own = { client_id: confidential.id, client_secret: confidential.secret ?? "" };
  const tokens = await redeem(code, pkce, own);
  const { rows } = await sql<{ text: string }>`
    select (select coalesce(string_agg(to_jsonb(changes)::text, ''), '') from changes)
      || (select string_agg(to_jsonb(clients)::text, '') from clients)
      || (select string_agg(to_jsonb(authorization_codes)::text, '') from authorization_codes)
      || (select string_agg(to_jsonb(sessions)::text, '') from sessions)
      || (select coalesce(string_agg(to_jsonb(write_requests)::text, ''), '') from write_requests) as text`.execute(
    database.writes,
  );
  const stored = rows[0]?.text ?? "";
  expect(stored).toContain(confidential.id);
  for (const secret of [code, own.client_secret, accessTokenOf(tokens), String(tokens.body["refresh_token"])]) {
    expect(secret.length).toBeGreaterThan(40);
    expect(stored).not.toContain(secret);
  }
});

test.each([
  ["https://app.example.com", true],
  ["https://app.example.com/a?b=c", true],
  ["http://127.0.0.1/callback", true],
  ["http://[::1]:8080/callback", true],
  ["com.example.app:/callback", true],
  ["http://localhost/callback", false],
  ["http://app.example.com/", false],
  ["https://app.example.com/#x", false],
  ["https://user@app.example.com/", false],
  ["https://@app.example.com/", false],
  ["https://*.example.com/", false],
  ["https://app.example.com/?code=1", false],
  ["https:/app.example.com", false],
  ["myapp:/callback", false],
  ["javascript:alert(1)", false],
  ["data:text/html,x", false],
  ["/callback", false],
  ["https://app.example.com\\@evil.example", false],
  ["https://app.example.com/ä", false],
  ["", false],
])("the redirect URI %s can be registered: %s", (uri, isAccepted) => {
  expect(findRedirectUriProblem(uri) === undefined).toBe(isAccepted);
});

test.each([
  ["http://127.0.0.1/cb", "http://127.0.0.1:50123/cb", true],
  ["http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", true],
  ["http://127.0.0.1:1/cb", "http://127.0.0.1/cb", false],
  ["http://[::1]/cb", "http://[::1]:8080/cb", true],
  ["http://127.0.0.1/cb", "http://127.0.0.1:8080/other", false],
  ["http://127.0.0.1/cb", "http://127.0.0.2:8080/cb", false],
  ["http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb", false],
  ["http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false],
  ["http://127.0.0.1/cb", "https://127.0.0.1:8080/cb", false],
  ["https://app.example.com/cb", "https://app.example.com:8443/cb", false],
])("%s is registered, so %s is accepted: %s", (registered, given, isAccepted) => {
  expect(isRegisteredUri([registered], given)).toBe(isAccepted);
});
