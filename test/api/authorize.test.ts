// The authorization code grant with PKCE: who allows what to which client, and the attacks on that. On two servers with one database.
import { sql } from "kysely";
import * as oauth from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client } from "../../gen/iam/v1alpha/client_pb.ts";
import { type Api, uniqueName } from "../support/api.ts";
import { issuer } from "../support/test-server.ts";
import {
  type SharedTokenServers,
  type TokenMember,
  createTokenMember,
  sharedTokenServers,
  statusWith,
} from "../support/token-servers.ts";
import {
  type Changes,
  type Consent,
  callsOf,
  locationOf,
  newPkce,
  ofPage,
  openConsent,
  redirectUri,
} from "./consent.ts";

let place: SharedTokenServers;
let consent: Consent;
let api: Api;
let org: Consent["org"];
let member: TokenMember;
let cookie: string;
let client: Client;
let confidential: Client;

beforeAll(async () => {
  place = await sharedTokenServers();
  consent = await openConsent(place);
  ({ api, org, member, cookie, client, confidential } = consent);
});
afterAll(() => consent.close());

const { register, send, signIn, queryOf, ask, decide, newCode, redeem, refresh, statusesOf } = callsOf(() => consent);

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

  test("sends who is not signed in to the sign-in with the providers of its org, and back", async () => {
    const location = locationOf(await ask(queryOf(newPkce()), { cookie: "" }));
    const name = org.path.replace("/orgs/", "");
    expect([location.pathname, location.searchParams.get("org")]).toEqual(["/sign-in", name]);
    const back = location.searchParams.get("return_to") ?? "";
    const page = await send(back, { headers: { cookie } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("Allow")]);
    const common = await register("/orgs/system");
    const ofAll = locationOf(await ask(queryOf(newPkce(), { client_id: common.id }), { cookie: "" }));
    expect([ofAll.pathname, ofAll.searchParams.get("org")]).toEqual(["/sign-in", null]);
  });

  describe("that asks for a new sign-in", () => {
    /** Returns the status of a request, or where it leads. */
    const outcomeOf = async (path: string, of: string, form?: URLSearchParams): Promise<string | number> => {
      const response = await send(path, {
        headers: { ...ofPage, cookie: of },
        ...(form && { method: "POST", body: form }),
      });
      return response.headers.get("location")?.replace(/[?].*/, "") ?? response.status;
    };

    test.each<readonly [string, Changes]>([
      ["prompt=login", { prompt: "login" }],
      ["prompt=login with others", { prompt: "login consent" }],
      ["max_age=0", { max_age: "0" }],
    ])("%s gets one, also if somebody opens the way back without it", async (_what, changes) => {
      const query = queryOf(newPkce(), changes);
      const old = await signIn(org, member);
      const location = locationOf(await ask(query, { cookie: old }));
      expect(location.pathname).toBe("/sign-in");
      const back = location.searchParams.get("return_to") ?? "";
      expect(await outcomeOf(back, old)).toBe("/sign-in");
      const form = (request: string) => new URLSearchParams({ request, member: member.path, decision: "allow" });
      for (const request of [query, back.replace(/^[^?]*[?]/, "")]) {
        expect(await outcomeOf("/oauth2/authorize/decision", old, form(request))).toBe("/sign-in");
      }
      const fresh = await signIn(org, member);
      expect(await outcomeOf(back, fresh)).toBe(200);
      // The sign-in counts for this request, and not for the next one.
      expect(await outcomeOf(`/oauth2/authorize?${query}`, fresh)).toBe("/sign-in");
      const late = back.replace(/login_asked=\d+/, (asked) => `login_asked=${Number(asked.slice(12)) - 3_600_000}`);
      expect(await outcomeOf(late, fresh)).toBe("/sign-in");
      const decided = form(back.replace(/^[^?]*[?]/, ""));
      expect(await outcomeOf("/oauth2/authorize/decision", fresh, decided)).toBe(redirectUri);
    });

    test("by max_age gets one only if the sign-in is older", async () => {
      const own = await signIn(org, member);
      const query = queryOf(newPkce(), { max_age: "600" });
      expect(await outcomeOf(`/oauth2/authorize?${query}`, own)).toBe(200);
      const silent = queryOf(newPkce(), { max_age: "600", prompt: "none" });
      const errorOf = async () => locationOf(await ask(silent, { cookie: own })).searchParams.get("error");
      expect(await errorOf()).toBe("consent_required");
      await sql`
        update browser_sessions set sign_in_time = sign_in_time - interval '11 minutes'
        where id in (select browser_session_id from sessions where member_id = ${member.id})`.execute(
        consent.database.writes,
      );
      expect(await outcomeOf(`/oauth2/authorize?${query}`, own)).toBe("/sign-in");
      expect(await errorOf()).toBe("login_required");
    });
  });

  test("is answered by openid-client for OpenID Connect, with the scope openid, without an ID token", async () => {
    const customFetch = ((url: string, init: RequestInit) => send(url.replace(issuer, ""), init)) as oauth.CustomFetch;
    const config = await oauth.discovery(new URL(issuer), client.id, undefined, oauth.None(), {
      [oauth.customFetch]: customFetch,
    });
    const pkce = newPkce();
    const parameters = { redirect_uri: redirectUri, scope: "openid iam.orgs.get offline_access", state: "s" };
    const challenge = { code_challenge: pkce.challenge, code_challenge_method: "S256" };
    const url = oauth.buildAuthorizationUrl(config, { ...parameters, ...challenge });
    const callback = locationOf(await decide(url.search.slice(1)));
    const checks = { pkceCodeVerifier: pkce.verifier, expectedState: "s" };
    const tokens = await oauth.authorizationCodeGrant(config, callback, checks);
    expect([tokens.scope, tokens.id_token]).toEqual(["iam.orgs.get", undefined]);
  });

  test("is shown with where it really is, and without characters that reorder the page", async () => {
    const displayName = "Console \u202eelgooG";
    const redirectUris = ["com.evil.app://accounts.google.com/cb", "http://127.0.0.1/cb", "https://app.example.com/cb"];
    const odd = await register(org.path, { displayName, redirectUris });
    const pageFor = async (uri: string): Promise<string> =>
      (await ask(queryOf(newPkce(), { client_id: odd.id, redirect_uri: uri }))).text();
    const [app = "", program = "", site = ""] = await Promise.all(redirectUris.map(pageFor));
    expect(app).toContain("You will go back to the app on this device that opens <code>com.evil.app:</code>.");
    expect(app.replace(/name="request" value="[^"]*"/, "")).not.toContain("accounts.google.com");
    expect(program).toContain("a program on this computer, at <code>127.0.0.1</code>.");
    expect(site).toContain("You will go back to <code>app.example.com</code>.");
    expect(app).toContain("<bdi>Console \ufffdelgooG</bdi>");
    expect(app).not.toContain("\u202e");
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

  test("whose parameters have no value is as if it had none of them", async () => {
    const none = { scope: "", prompt: "", max_age: "", request: "", response_mode: "", nonce: "" };
    const page = await (await ask(queryOf(newPkce(), none))).text();
    expect(page).toContain("Everything that you may do");
    const denied = locationOf(await decide(queryOf(newPkce(), { state: "" }), { decision: "deny" }));
    expect(denied.searchParams.has("state")).toBe(false);
    const missing = locationOf(await ask(queryOf(newPkce(), { response_type: "" })));
    expect(missing.searchParams.get("error_description")).toBe("the parameter response_type is required");
    expect((await ask(`${queryOf(newPkce())}&state=`)).status).toBe(200);
  });

  describe("with an error redirects nobody", () => {
    const wrong = () => queryOf(newPkce(), { scope: "nonsense" });

    test("before a sign-in, which it then reports", async () => {
      const location = locationOf(await ask(wrong(), { cookie: "" }));
      expect(location.pathname).toBe("/sign-in");
      const back = await send(location.searchParams.get("return_to") ?? "", { headers: { cookie } });
      expect(locationOf(back).searchParams.get("error")).toBe("invalid_scope");
    });

    test("who is signed in as nobody whom the client serves", async () => {
      const other = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
      const foreign = await register(other.path);
      const response = await ask(queryOf(newPkce(), { client_id: foreign.id, scope: "nonsense" }));
      expect([response.status, response.headers.get("location")]).toEqual([403, null]);
      const text = await response.text();
      expect(text).toContain(`org=${other.path.replace("/orgs/", "")}">Sign in with another account`);
    });

    test("except with prompt=none, which shows no page", async () => {
      const silent = queryOf(newPkce(), { scope: "nonsense", prompt: "none" });
      expect(locationOf(await ask(silent, { cookie: "" })).searchParams.get("error")).toBe("invalid_scope");
    });
  });

  test.each<readonly [string, Changes, string]>([
    ["with a max_age that is no number", { max_age: "soon" }, "invalid_request"],
    ["with the name of the API for the scopes", { scopes: "iam.orgs.get" }, "invalid_request"],
    ["for a permission that does not exist", { scope: "iam.org.get" }, "invalid_scope"],
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
  const response = await decide(queryOf(newPkce()), { member: other.path });
  expect([response.status, response.headers.get("location")]).toEqual([400, null]);
});

test("a person whose sign-in ends before it allows a client signs in and is asked again", async () => {
  const query = queryOf(newPkce());
  for (const ended of ["", `__Host-tenantry=${"x".repeat(75)}`]) {
    const location = locationOf(await decide(query, {}, { cookie: ended }));
    expect(location.pathname).toBe("/sign-in");
    const page = await send(location.searchParams.get("return_to") ?? "", { headers: { cookie } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("Allow")]);
  }
});
