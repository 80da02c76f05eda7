// Sign-in through a real identity provider: who is signed in, and what ends it. On two servers with one database.
import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Api, uniqueName } from "../support/api.ts";
import { type OpenIdProvider, client, passThrough } from "../support/openid-issuers.ts";
import { rounds } from "../support/rounds.ts";
import {
  type OAuthAnswer,
  type TokenServers,
  sendForm,
  startTokenServers,
  statusWith,
} from "../support/token-servers.ts";
import {
  type LinkedProvider,
  type ProviderPlace,
  callsIn,
  identityProviderNetworks,
  ofPage,
  openProviderPlace,
} from "./provider-place.ts";

/** Where the client is that people allow to act for them. */
const appUri = "https://app.example.com/callback";

let tokenServers: TokenServers;
let servers: TokenServers["servers"];
let place: ProviderPlace;
let api: Api;
let org: string;
let openId: OpenIdProvider;
let shared: LinkedProvider;
let appId: string;

beforeAll(async () => {
  tokenServers = await startTokenServers({ identityProviderNetworks });
  ({ servers, api } = tokenServers);
  place = await openProviderPlace(servers, api);
  ({ org, openId, shared } = place);
  const app = { name: uniqueName("app"), redirectUris: [appUri] };
  ({ id: appId } = await api.clients.createClient({ parentPath: "/orgs/system", client: app }));
});
afterAll(async () => {
  await openId.close();
  await tokenServers.close();
});

const { newProvider, newUser, urlOf, start, comeBack, signIn, decide, enter, askToken, tokenOf } = callsIn(() => place);

interface Allowed {
  readonly code: string;
  readonly verifier: string;
}

/** Allows the client to act for a member that a browser is signed in as, also when the person is away. */
async function allow(session: string, member: string): Promise<Allowed> {
  const verifier = randomBytes(32).toString("base64url");
  const request = new URLSearchParams({
    response_type: "code",
    client_id: appId,
    redirect_uri: appUri,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    scope: "offline_access",
  });
  const body = new URLSearchParams({ request: request.toString(), member, decision: "allow" });
  const headers = { ...ofPage, cookie: session };
  const init = { method: "POST", body, headers, redirect: "manual" } as const;
  const response = await fetch(`${urlOf(0)}/oauth2/authorize/decision`, init);
  expect(response.status).toBe(303);
  return { verifier, code: new URL(response.headers.get("location") ?? "").searchParams.get("code") ?? "" };
}

const redeem = ({ code, verifier }: Allowed, server: 0 | 1 = 0) =>
  sendForm(servers[server], "token", {
    grant_type: "authorization_code",
    client_id: appId,
    redirect_uri: appUri,
    code_verifier: verifier,
    code,
  });

const refresh = ({ body }: OAuthAnswer, server: 0 | 1 = 0) =>
  sendForm(servers[server], "token", {
    grant_type: "refresh_token",
    refresh_token: String(body["refresh_token"]),
  });

/** Returns the identities with which the sessions of a member were started. */
async function pathsOfIdentities(parentPath: string): Promise<string[]> {
  const { sessions } = await api.sessions.listSessions({ parentPath });
  return sessions.map(({ identityPath }) => identityPath);
}

describe("a person", () => {
  test("signs in across two servers, with a new cookie, and comes back to where it was", async () => {
    const own = await newProvider(org, openId.issuer);
    openId.serve(own.redirectUri);
    onTestFinished(() => openId.serve(shared.redirectUri));
    const { path, identityId } = await newUser(org, own.path, "bob");
    openId.person = "bob";
    const { status, url, cookie } = await start(own.id, { return_to: "/docs/tour?x=1" });
    expect([status, cookie]).toEqual([303, expect.stringMatching(/^__Host-tenantry-start-[\w-]{22}=/)]);
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toMatchObject({ code_challenge_method: "S256", response_type: "code", scope: "openid" });
    const back = await comeBack(await passThrough(url, own.redirectUri), cookie, 1);
    expect([back.status, back.location]).toEqual([303, "/docs/tour?x=1"]);
    expect(back.cookies).toEqual([
      expect.stringMatching(/^__Host-tenantry=[\w-]{75}; Path=\/; Secure; HttpOnly; SameSite=Lax$/),
      `__Host-tenantry-org=${org.split("/")[2]}; Path=/; Secure; HttpOnly; SameSite=Lax`,
      `${cookie.split("=")[0]}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0`,
    ]);
    const token = await tokenOf(back.session ?? "", path);
    expect([await statusWith(servers[0], token, path), await statusWith(servers[1], token, path)]).toEqual([200, 200]);
    expect(await pathsOfIdentities(path)).toEqual([`${path}/identities/@${identityId}`]);
  });

  test("who is not linked sees what to ask for, and is not signed in", async () => {
    const back = await signIn("<mallory>");
    expect([back.status, back.session]).toEqual([403, undefined]);
    expect(back.text).toContain("&lt;mallory&gt;");
    expect(back.text).toContain(openId.issuer);
    expect(back.text).toContain("Shared &lt;login&gt;");
  });

  test("who is suspended is not signed in", async () => {
    const { path } = await newUser(org, shared.path, "dave");
    await api.members.suspendMember({ path });
    const back = await signIn("dave");
    expect([back.status, back.session]).toEqual([400, undefined]);
  });

  test("gets another cookie than the one that the browser had, which has ended", async () => {
    const erin = await newUser(org, shared.path, "erin");
    const { path } = erin;
    const before = (await enter("erin", erin)).session ?? "";
    const after = (await enter("erin", erin, before)).session ?? "";
    expect(after).not.toBe(before);
    expect([(await askToken(before, path)).status, (await askToken(after, path)).status]).toEqual([401, 200]);
  });

  test("finds the providers of the installation on the page, and after them those of an org, below its name", async () => {
    const own = await newProvider(org, "https://login.example.com", { displayName: "Another login" });
    const name = org.split("/")[2] ?? "";
    const pageOf = async (query: string, cookie = ""): Promise<string> =>
      (await fetch(`${urlOf(0)}/sign-in${query}`, { headers: { cookie } })).text();
    expect(await pageOf("")).toContain("Continue with <bdi>Shared &lt;login&gt;</bdi>");
    expect(await pageOf("")).not.toContain(own.id);
    expect(await pageOf("?org=missing")).toContain(shared.id);
    for (const text of [await pageOf(`?org=${name}`), await pageOf("", `__Host-tenantry-org=${name}`)]) {
      const at = [shared.id, `<code>${name}</code>`, own.id].map((part) => text.indexOf(part));
      expect(at).toEqual(at.toSorted((one, other) => one - other));
      expect(at).not.toContain(-1);
    }
  });

  test("who cancels at the provider, or comes back too late, can sign in again for the same request", async () => {
    const own = await newProvider(org, openId.issuer);
    const name = org.split("/")[2] ?? "";
    const { url, cookie } = await start(own.id, { return_to: "/oauth2/authorize?a=b", org: name });
    const state = new URL(url).searchParams.get("state") ?? "";
    const cancelled = new URLSearchParams({ error: "access_denied", state, iss: openId.issuer });
    const back = await comeBack(`${own.redirectUri}?${cancelled.toString()}`, cookie);
    expect([back.status, back.session]).toEqual([400, undefined]);
    expect(back.text).toContain("the sign-in was cancelled at the identity provider");
    const kept = [
      'name="return_to" value="/oauth2/authorize?a=b"',
      `name="org" value="${name}"`,
      `value="${own.id}"`,
      `value="${shared.id}"`,
    ];
    for (const field of kept) expect(back.text).toContain(field);
  });

  test("who is not linked, or chooses among its members, can sign in with another account for the same request", async () => {
    openId.serve(shared.redirectUri);
    openId.person = uniqueName("stranger");
    const { url, cookie } = await start(shared.id, { return_to: "/docs", org: "acme" });
    const unlinked = await comeBack(await passThrough(url, shared.redirectUri), cookie);
    expect(unlinked.text).toContain('href="/sign-in?return_to=%2Fdocs&amp;org=acme">Sign in with another account');
    await newUser(org, shared.path, openId.person);
    const again = await start(shared.id, { return_to: "/docs", org: "acme" });
    const linked = await comeBack(await passThrough(again.url, shared.redirectUri), again.cookie);
    expect(linked.location).toBe("/sign-in/choice?return_to=%2Fdocs&org=acme");
    const headers = { cookie: linked.session ?? "" };
    const choice = await (await fetch(`${urlOf(1)}${linked.location}`, { headers })).text();
    expect(choice).toContain('href="/sign-in?return_to=%2Fdocs&amp;org=acme">Sign in with another account');
    const body = new URLSearchParams({ identity: "x", decision: "accept", return_to: "/docs", org: "acme" });
    const init = { method: "POST", body, headers: { ...headers, ...ofPage } };
    expect(await (await fetch(`${urlOf(0)}/sign-in/choice`, init)).text()).toContain(
      'href="/sign-in/choice?return_to=%2Fdocs&amp;org=acme">Choose again',
    );
  });

  test("signs in in two tabs, also if a third one fails", async () => {
    openId.serve(shared.redirectUri);
    openId.person = uniqueName("person");
    const { path, identityId } = await newUser(org, shared.path, openId.person);
    const tabs = [await start(shared.id), await start(shared.id), await start(shared.id)] as const;
    const jar = tabs.map(({ cookie }) => cookie).join("; ");
    const [first, second] = [
      await passThrough(tabs[0].url, shared.redirectUri),
      await passThrough(tabs[1].url, shared.redirectUri),
    ];
    const third = new URL(tabs[2].url).searchParams.get("state") ?? "";
    const refusal = new URLSearchParams({ error: "x", state: third }).toString();
    const failed = await comeBack(`${shared.redirectUri}?${refusal}`, jar);
    const nameOf = ({ cookie }: (typeof tabs)[number]): string => cookie.split("=")[0] ?? "";
    expect(failed.cookies.map((each) => each.split("=")[0])).toEqual([nameOf(tabs[2])]);
    for (const [index, callback] of [first, second].entries()) {
      const back = await comeBack(callback, jar);
      expect(back.status).toBe(303);
      expect(back.cookies.map((each) => each.split("=")[0])).toEqual([
        "__Host-tenantry",
        nameOf(tabs[index] ?? tabs[0]),
      ]);
      if (index === 0) await decide(back.session ?? "", identityId);
    }
    expect(await pathsOfIdentities(path)).toHaveLength(2);
  });

  /** Begins a sign-in in a browser that has begun others. Returns the cookies that this sets. */
  async function startAfter(started: readonly string[], returnPath = "/account") {
    const body = new URLSearchParams({ provider: shared.id, return_to: returnPath, org: "o".repeat(63) });
    const headers = { ...ofPage, cookie: started.join("; ") };
    const response = await fetch(`${urlOf(0)}/sign-in/start`, { method: "POST", body, headers, redirect: "manual" });
    return response.headers.getSetCookie();
  }

  test("has five sign-ins at most that have begun, whose cookies outlive them: the oldest is forgotten", async () => {
    const started = Array.from({ length: 5 }, (_, at) => `__Host-tenantry-start-${at}=x`);
    expect(await startAfter(started)).toEqual([
      expect.stringMatching(/^__Host-tenantry-start-[\w-]{22}=[\w-]+; .*; Max-Age=3600$/),
      expect.stringMatching(/^__Host-tenantry-start-0=; .*Max-Age=0$/),
    ]);
  });

  test("keeps the cookie of the longest request, and none with which its requests would be too long", async () => {
    let started: string[] = [];
    for (let tab = 1; tab <= 4; tab++) {
      const [set = "", ...cleared] = await startAfter(started, `/${"a".repeat(2_599)}`);
      const [pair = ""] = set.split(";");
      expect(pair.length).toBeLessThanOrEqual(4_096);
      const nameOf = (each: string): string => each.slice(0, each.indexOf("="));
      const gone = new Set(cleared.map(nameOf));
      started = [...started.filter((each) => !gone.has(nameOf(each))), pair];
      expect(started).toHaveLength(Math.min(tab, 2));
    }
  });
});

describe("what ends a sign-in", () => {
  const deletions: (readonly [string, (identity: string, provider: string) => Promise<unknown>])[] = [
    ["its identity", (path) => api.identities.deleteIdentity({ path })],
    ["its provider", (_identity, path) => api.identityProviders.deleteIdentityProvider({ path })],
  ];

  test.each(deletions)("the deletion of %s ends its sessions and tokens on both servers", async (_what, end) => {
    const own = await newProvider(org, openId.issuer);
    openId.serve(own.redirectUri);
    onTestFinished(() => openId.serve(shared.redirectUri));
    const { path, identity } = await newUser(org, own.path, "frank");
    const { session = "" } = await signIn("frank", own);
    const token = await tokenOf(session, path);
    const statuses = async () => [
      await statusWith(servers[0], token, path),
      await statusWith(servers[1], token, path),
      (await askToken(session, path, 1)).status,
    ];
    expect(await statuses()).toEqual([200, 200, 200]);
    await end(identity, own.path);
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  test.each(deletions)(
    "the deletion of %s ends what a client was allowed with it, on both servers",
    async (_what, end) => {
      const own = await newProvider(org, openId.issuer);
      openId.serve(own.redirectUri);
      onTestFinished(() => openId.serve(shared.redirectUri));
      const { path, identity } = await newUser(org, own.path, "frank");
      const { session = "" } = await signIn("frank", own);
      const { id } = await api.identities.getIdentity({ path: identity });
      const [first, second, third] = [
        await allow(session, path),
        await allow(session, path),
        await allow(session, path),
      ];
      const tokens = await redeem(first);
      const next = await refresh(tokens, 1);
      expect(await pathsOfIdentities(path)).toEqual(Array.from({ length: 2 }, () => `${path}/identities/@${id}`));
      const accessTokens = [tokens, next].map(({ body }) => String(body["access_token"]));
      const statuses = () =>
        Promise.all(servers.flatMap((each) => accessTokens.map((token) => statusWith(each, token, path))));
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      await end(identity, own.path);
      expect(await statuses()).toEqual([401, 401, 401, 401]);
      const refused = [await refresh(next), await refresh(next, 1), await redeem(second), await redeem(third, 1)];
      expect(refused.map(({ body }) => body["error"])).toEqual(refused.map(() => "invalid_grant"));
      expect(await pathsOfIdentities(path)).toEqual([]);
    },
  );

  test("a code that is redeemed while its identity is deleted leaves no session", async () => {
    for (let round = 0; round < rounds(3, 200); round++) {
      const nina = await newUser(org, shared.path, `nina-${round}`);
      const { path, identity } = nina;
      const { session = "" } = await enter(`nina-${round}`, nina);
      const allowed = await allow(session, path);
      const [tokens] = await Promise.all([redeem(allowed, 1), api.identities.deleteIdentity({ path: identity })]);
      expect(await pathsOfIdentities(path)).toEqual([]);
      if (tokens.status !== 200) expect(tokens.body["error"]).toBe("invalid_grant");
      else expect(await statusWith(servers[1], String(tokens.body["access_token"]), path)).toBe(401);
    }
  });

  test("the deletion of another identity ends nothing", async () => {
    const grace = await newUser(org, shared.path, "grace");
    const { path } = grace;
    const { session = "" } = await enter("grace", grace);
    const identity = { name: "other", identityProviderPath: shared.path, subject: "grace-2" };
    const other = await api.identities.createIdentity({ parentPath: path, identity });
    const [first, second] = [await allow(session, path), await allow(session, path)];
    const tokens = await redeem(first);
    await api.identities.deleteIdentity({ path: other.path });
    expect((await askToken(session, path)).status).toBe(200);
    expect([(await refresh(tokens)).status, (await redeem(second)).status]).toEqual([200, 200]);
  });
});

test("new keys of a provider count at once", async () => {
  await newUser(org, shared.path, "ivan");
  expect((await signIn("ivan")).status).toBe(303);
  openId.serve(shared.redirectUri);
  expect((await signIn("ivan")).status).toBe(303);
});

test("the API does not accept the cookies, and secrets of sign-ins reach no log", async () => {
  await newUser(org, shared.path, "ken");
  const { cookie } = await start(shared.id);
  const { session = "" } = await signIn("ken");
  const response = await fetch(`${urlOf(0)}/iam/v1alpha/me`, { headers: { cookie: `${cookie}; ${session}` } });
  expect(response.status).toBe(401);
  const log = servers.flatMap(({ logLines }) => logLines).join("\n");
  for (const secret of [cookie, session, client.secret]) expect(log).not.toContain(secret.replace(/^[^=]*=/, ""));
});
