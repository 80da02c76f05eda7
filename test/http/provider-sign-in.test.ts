// Sign-in through identity providers: a real one, and hostile ones. On two servers with one database.
import { createHash, randomBytes } from "node:crypto";
import { SignJWT, UnsecuredJWT, exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Api, uniqueName } from "../support/api.ts";
import {
  type MadeUpIssuer,
  type OpenIdProvider,
  client,
  configurationAt,
  passThrough,
  paths,
  sendJson,
  startMadeUpIssuer,
  startOpenIdProvider,
} from "../support/openid-issuers.ts";
import { rounds } from "../support/rounds.ts";
import {
  type OAuthAnswer,
  type TokenServers,
  issuer as service,
  sendForm,
  startTokenServers,
  statusWith,
} from "../support/token-servers.ts";

/** Where the client is that people allow to act for them. */
const appUri = "https://app.example.com/callback";

let place: TokenServers;
let api: Api;
let org: string;
let openId: OpenIdProvider;
let shared: LinkedProvider;
let appId: string;

interface LinkedProvider {
  readonly id: string;
  readonly path: string;
  readonly redirectUri: string;
}

beforeAll(async () => {
  place = await startTokenServers({ identityProviderNetworks: ["127.0.0.1/32"] });
  ({ api } = place);
  org = await newOrg();
  openId = await startOpenIdProvider();
  shared = await newProvider("/orgs/system", openId.issuer, { displayName: "Shared <login>" });
  openId.serve(shared.redirectUri);
  const app = { name: uniqueName("app"), redirectUris: [appUri] };
  ({ id: appId } = await api.clients.createClient({ parentPath: "/orgs/system", client: app }));
});
afterAll(async () => {
  await openId.close();
  await place.close();
});

const newOrg = async (): Promise<string> => (await api.orgs.createOrg({ org: { name: uniqueName("org") } })).path;

async function newProvider(parentPath: string, issuer: string, fields: object = {}): Promise<LinkedProvider> {
  const identityProvider = { name: uniqueName("idp"), issuer, clientId: client.id, clientSecret: client.secret };
  const { id, path } = await api.identityProviders.createIdentityProvider({
    parentPath,
    identityProvider: { ...identityProvider, ...fields },
  });
  return { id, path, redirectUri: `${service}/sign-in/callback/${id}` };
}

/** Creates a user with an identity. */
async function newUser(parentPath: string, identityProviderPath: string, subject: string) {
  const { path } = await api.members.createMember({ parentPath, member: { name: uniqueName("user") } });
  const roleBinding = { name: uniqueName("b"), rolePath: "/roles/viewer", subjectPath: path };
  await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  const identity = { name: "login", identityProviderPath, subject };
  return { path, identity: (await api.identities.createIdentity({ parentPath: path, identity })).path };
}

const ofPage = { "sec-fetch-site": "same-origin" };
const urlOf = (server: 0 | 1): string => place.servers[server].url;

async function start(provider: string, fields: Record<string, string> = {}, server: 0 | 1 = 0) {
  const body = new URLSearchParams({ provider, ...fields });
  const request = { method: "POST", body, headers: ofPage, redirect: "manual" } as const;
  const response = await fetch(`${urlOf(server)}/sign-in/start`, request);
  const text = await response.text();
  const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return { status: response.status, url: response.headers.get("location") ?? "", cookie, text };
}

/** Sends a browser to where a provider sent it back, on one of the servers. */
async function comeBack(callback: URL | string, cookie: string, server: 0 | 1 = 0) {
  const { pathname, search } = new URL(callback);
  const response = await fetch(`${urlOf(server)}${pathname}${search}`, { headers: { cookie }, redirect: "manual" });
  const cookies = response.headers.getSetCookie();
  const session = cookies.find((each) => /^__Host-tenantry=./.test(each))?.split(";")[0];
  const text = await response.text();
  return { status: response.status, location: response.headers.get("location"), cookies, session, text };
}

/** A whole sign-in at the real provider. */
async function signIn(person: string, provider = shared, before = "") {
  openId.person = person;
  const { url, cookie } = await start(provider.id);
  return comeBack(await passThrough(url, provider.redirectUri), [cookie, before].filter(Boolean).join("; "));
}

function askToken(session: string, member: string, server: 0 | 1 = 0) {
  const headers = { ...ofPage, "content-type": "application/json", cookie: session };
  return fetch(`${urlOf(server)}/sign-in/token`, { method: "POST", body: JSON.stringify({ member }), headers });
}

async function tokenOf(session: string, member: string): Promise<string> {
  const response = await askToken(session, member);
  expect(response.status).toBe(200);
  return ((await response.json()) as { access_token: string }).access_token;
}

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
  sendForm(place.servers[server], "token", {
    grant_type: "authorization_code",
    client_id: appId,
    redirect_uri: appUri,
    code_verifier: verifier,
    code,
  });

const refresh = ({ body }: OAuthAnswer, server: 0 | 1 = 0) =>
  sendForm(place.servers[server], "token", {
    grant_type: "refresh_token",
    refresh_token: String(body["refresh_token"]),
  });

/** Returns the identities with which the sessions of a member were started. */
async function pathsOfIdentities(parentPath: string): Promise<string[]> {
  const { sessions } = await api.sessions.listSessions({ parentPath });
  return sessions.map(({ identityPath }) => identityPath);
}

/** Reads the page that says why somebody is not signed in. */
const problemOf = (text: string): string => /Not signed in: ([^<]*)</.exec(text)?.[1] ?? text;

describe("a person", () => {
  test("signs in as the members of all orgs that have the identity, across two servers, with a new cookie", async () => {
    const [one, two] = [await newOrg(), await newOrg()];
    const [first, second] = [await newUser(one, shared.path, "bob"), await newUser(two, shared.path, "bob")];
    await newUser(one, shared.path, "carol");
    openId.person = "bob";
    const { status, url, cookie } = await start(shared.id, { return_to: "/docs/tour?x=1" });
    expect([status, cookie]).toEqual([303, expect.stringMatching(/^__Host-tenantry-start=/)]);
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toMatchObject({ code_challenge_method: "S256", response_type: "code", scope: "openid" });
    const back = await comeBack(await passThrough(url, shared.redirectUri), cookie, 1);
    expect([back.status, back.location]).toEqual([303, "/docs/tour?x=1"]);
    expect(back.cookies).toEqual([
      expect.stringMatching(/^__Host-tenantry=[\w-]{75}; Path=\/; Secure; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^__Host-tenantry-start=; .*Max-Age=0$/),
    ]);
    for (const { path, identity } of [first, second]) {
      const token = await tokenOf(back.session ?? "", path);
      expect([
        await statusWith(place.servers[0], token, path),
        await statusWith(place.servers[1], token, path),
      ]).toEqual([200, 200]);
      const { id } = await api.identities.getIdentity({ path: identity });
      expect(await pathsOfIdentities(path)).toEqual([`${path}/identities/@${id}`]);
    }
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
    const { path } = await newUser(org, shared.path, "erin");
    const before = (await signIn("erin")).session ?? "";
    const after = (await signIn("erin", shared, before)).session ?? "";
    expect(after).not.toBe(before);
    expect([(await askToken(before, path)).status, (await askToken(after, path)).status]).toEqual([400, 200]);
  });

  test("finds the providers of the installation and of an org on the page", async () => {
    const own = await newProvider(org, "https://login.example.com", { displayName: "Of the org" });
    const pageOf = async (query: string): Promise<string> => (await fetch(`${urlOf(0)}/sign-in${query}`)).text();
    expect(await pageOf("")).toContain("Continue with Shared &lt;login&gt;");
    expect(await pageOf("")).not.toContain(own.id);
    expect(await pageOf(`?org=${org.split("/")[2]}`)).toContain(own.id);
    expect(await pageOf("?org=missing")).toContain(shared.id);
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
      await statusWith(place.servers[0], token, path),
      await statusWith(place.servers[1], token, path),
      (await askToken(session, path, 1)).status,
    ];
    expect(await statuses()).toEqual([200, 200, 200]);
    await end(identity, own.path);
    expect(await statuses()).toEqual([401, 401, 400]);
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
        Promise.all(place.servers.flatMap((each) => accessTokens.map((token) => statusWith(each, token, path))));
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
      const { path, identity } = await newUser(org, shared.path, `nina-${round}`);
      const { session = "" } = await signIn(`nina-${round}`);
      const allowed = await allow(session, path);
      const [tokens] = await Promise.all([redeem(allowed, 1), api.identities.deleteIdentity({ path: identity })]);
      expect(await pathsOfIdentities(path)).toEqual([]);
      if (tokens.status !== 200) expect(tokens.body["error"]).toBe("invalid_grant");
      else expect(await statusWith(place.servers[1], String(tokens.body["access_token"]), path)).toBe(401);
    }
  });

  test("the deletion of another identity ends nothing", async () => {
    const { path } = await newUser(org, shared.path, "grace");
    const { session = "" } = await signIn("grace");
    const identity = { name: "other", identityProviderPath: shared.path, subject: "grace-2" };
    const other = await api.identities.createIdentity({ parentPath: path, identity });
    const [first, second] = [await allow(session, path), await allow(session, path)];
    const tokens = await redeem(first);
    await api.identities.deleteIdentity({ path: other.path });
    expect((await askToken(session, path)).status).toBe(200);
    expect([(await refresh(tokens)).status, (await redeem(second)).status]).toEqual([200, 200]);
  });
});

describe("an answer of a provider", () => {
  test("is accepted from the browser that asked for it, for its state and provider alone", async () => {
    await newUser(org, shared.path, "heidi");
    openId.person = "heidi";
    const other = await newProvider(org, openId.issuer);
    const { url, cookie } = await start(shared.id);
    const [another, callback] = [await start(shared.id), await passThrough(url, shared.redirectUri)];
    const withState = new URL(callback);
    withState.searchParams.set("state", "x".repeat(43));
    const stolen = callback.href.replace(shared.id, other.id);
    const altered = cookie.replace(/.{9}$/, (end) => (end.startsWith("A") ? "B" : "A") + end.slice(1));
    const refused = [
      await comeBack(callback, ""),
      await comeBack(callback, another.cookie),
      await comeBack(callback, altered),
      await comeBack(withState, cookie),
      await comeBack(stolen, cookie),
      await comeBack(callback.href.replace(shared.id, "x"), cookie),
    ];
    expect(refused.map(({ status, session }) => [status, session])).toEqual(refused.map(() => [400, undefined]));
    expect((await comeBack(callback, cookie)).status).toBe(303);
    // The same answer again: the code is used up.
    expect((await comeBack(callback, cookie)).status).toBe(400);
  });

  test("with the code of another sign-in is refused: the verifier is another one", async () => {
    openId.person = "heidi";
    const [victim, attacker] = [await start(shared.id), await start(shared.id)];
    const code = (await passThrough(victim.url, shared.redirectUri)).searchParams.get("code") ?? "";
    const injected = await passThrough(attacker.url, shared.redirectUri);
    injected.searchParams.set("code", code);
    const { status, session, text } = await comeBack(injected, attacker.cookie);
    expect([status, session, problemOf(text)]).toEqual([400, undefined, expect.stringContaining("invalid_grant")]);
  });

  test("that names another issuer, or none where the provider names it, is refused", async () => {
    openId.person = "heidi";
    for (const iss of ["https://attacker.example.com", undefined]) {
      const { url, cookie } = await start(shared.id);
      const callback = await passThrough(url, shared.redirectUri);
      expect(callback.searchParams.get("iss")).toBe(openId.issuer);
      if (iss === undefined) callback.searchParams.delete("iss");
      else callback.searchParams.set("iss", iss);
      const { status, text } = await comeBack(callback, cookie);
      expect([status, problemOf(text)]).toEqual([400, expect.stringContaining("iss")]);
    }
  });

  test("that says that the person refused is shown, as text", async () => {
    const { url, cookie } = await start(shared.id);
    const state = new URL(url).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ error: "access_denied", error_description: "<b>", state, iss: openId.issuer });
    const { status, text } = await comeBack(`${shared.redirectUri}?${query.toString()}`, cookie);
    expect([status, text.includes("<b>"), problemOf(text)]).toEqual([
      400,
      false,
      expect.stringContaining("access_denied"),
    ]);
  });

  test("is not asked for by a page of another site, nor with a return path to another host", async () => {
    const body = new URLSearchParams({ provider: shared.id });
    for (const headers of [{}, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }]) {
      const response = await fetch(`${urlOf(0)}/sign-in/start`, { method: "POST", body, headers, redirect: "manual" });
      expect(response.status).toBe(400);
    }
    for (const path of [
      "https://evil.example.com",
      "//evil.example.com",
      "/\\evil.example.com",
      "javascript:alert(1)",
    ]) {
      expect((await start(shared.id, { return_to: path })).status).toBe(400);
    }
    for (const id of ["", "x", "00000000-0000-7000-8000-000000000000"]) expect((await start(id)).status).toBe(400);
  });
});

test("new keys of a provider count at once", async () => {
  await newUser(org, shared.path, "ivan");
  expect((await signIn("ivan")).status).toBe(303);
  openId.serve(shared.redirectUri);
  expect((await signIn("ivan")).status).toBe(303);
});

describe("a provider of another org", () => {
  test("signs in nobody with the same subject, also with the same issuer and client", async () => {
    const victim = await newUser(org, shared.path, "judy");
    const attackers = await newProvider(await newOrg(), openId.issuer);
    openId.serve(attackers.redirectUri);
    onTestFinished(() => openId.serve(shared.redirectUri));
    const back = await signIn("judy", attackers);
    expect([back.status, back.session]).toEqual([403, undefined]);
    expect((await api.identities.getIdentity({ path: victim.identity })).subject).toBe("judy");
  });
});

describe("a hostile provider", () => {
  let hostile: MadeUpIssuer;
  let own: LinkedProvider;
  let member: string;

  beforeAll(async () => {
    hostile = await startMadeUpIssuer();
    own = await newProvider(org, hostile.issuer);
    member = (await newUser(org, own.path, "victim")).path;
  });
  afterAll(() => hostile.close());

  const rsa = generateKeyPair("RS256", { extractable: true });

  interface Forgery {
    readonly claims?: object;
    readonly idToken?: (claims: Record<string, unknown>, publicJwk: object) => Promise<string> | string;
    readonly configuration?: object;
  }

  /** Answers a sign-in with an ID token of its own making. */
  async function forge({ claims = {}, idToken, configuration = {} }: Forgery) {
    const { privateKey, publicKey } = await rsa;
    const jwk = { ...(await exportJWK(publicKey)), kid: "1", alg: "RS256", use: "sig" };
    hostile.answer(paths.configuration, (response) =>
      sendJson(response, configurationAt(hostile.issuer, configuration)),
    );
    hostile.answer(paths.jwks, (response) => sendJson(response, { keys: [jwk] }));
    const { url, cookie } = await start(own.id);
    const { state = "", nonce } = Object.fromEntries(new URL(url).searchParams);
    const now = Math.floor(Date.now() / 1_000);
    const honest = { iss: hostile.issuer, aud: client.id, sub: "victim", nonce, iat: now, exp: now + 60 };
    const all = { ...honest, ...claims };
    const sign = () => new SignJWT(all).setProtectedHeader({ alg: "RS256", kid: "1" }).sign(privateKey);
    const text = await (idToken === undefined ? sign() : idToken(all, jwk));
    hostile.answer(paths.token, (response) =>
      sendJson(response, { access_token: "a", token_type: "Bearer", id_token: text }),
    );
    return comeBack(`${own.redirectUri}?${new URLSearchParams({ code: "c", state }).toString()}`, cookie);
  }

  test("can sign in the members that its org has linked, so that each attack below fails for its own reason", async () => {
    const { status, session = "" } = await forge({});
    expect(status).toBe(303);
    await tokenOf(session, member);
  });

  test.each<readonly [string, Forgery, RegExp]>([
    ["another nonce", { claims: { nonce: "x" } }, /nonce/],
    ["no nonce", { claims: { nonce: undefined } }, /nonce/],
    ["another issuer", { claims: { iss: "https://login.example.com" } }, /iss/],
    ["another audience", { claims: { aud: "another" } }, /aud/],
    ["several audiences", { claims: { aud: [client.id, "another"] } }, /aud/],
    ["an end in the past", { claims: { exp: 1 } }, /exp/],
    ["no subject", { claims: { sub: "" } }, /sub/],
    ["no algorithm", { idToken: (claims) => new UnsecuredJWT(claims).encode() }, /alg/],
    [
      "no algorithm, which its configuration supports",
      {
        idToken: (claims) => new UnsecuredJWT(claims).encode(),
        configuration: { id_token_signing_alg_values_supported: ["none"] },
      },
      /alg/,
    ],
    [
      "HS256 with its client's secret",
      {
        idToken: (claims) =>
          new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(client.secret)),
        configuration: { id_token_signing_alg_values_supported: ["HS256", "RS256"] },
      },
      /alg/,
    ],
    [
      "HS256 with its public key",
      {
        idToken: (claims, jwk) =>
          new SignJWT(claims)
            .setProtectedHeader({ alg: "HS256", kid: "1" })
            .sign(new TextEncoder().encode(JSON.stringify(jwk))),
      },
      /alg/,
    ],
    [
      "the signature of another key",
      {
        idToken: async (claims) =>
          new SignJWT(claims)
            .setProtectedHeader({ alg: "RS256", kid: "1" })
            .sign((await generateKeyPair("RS256")).privateKey),
      },
      /signature/,
    ],
  ])("is refused with an ID token with %s", async (_what, forgery, reason) => {
    const { status, session, text } = await forge(forgery);
    expect([status, session, problemOf(text)]).toEqual([400, undefined, expect.stringMatching(reason)]);
  });

  test("does not get the code of another provider, to which the sign-in was sent", async () => {
    const { url, cookie } = await start(shared.id);
    const before = hostile.asked.length;
    const state = new URL(url).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ code: "of-the-other", state });
    const { status, text } = await comeBack(`${own.redirectUri}?${query.toString()}`, cookie);
    expect([status, problemOf(text)]).toEqual([400, expect.stringContaining("started another one")]);
    expect(hostile.asked.slice(before)).toEqual([]);
  });

  test("cannot be another issuer than the one of its resource", async () => {
    hostile.answer(paths.configuration, (response) => sendJson(response, configurationAt("https://login.example.com")));
    const { status, text } = await start(own.id);
    expect([status, problemOf(text)]).toEqual([400, expect.stringContaining("issuer")]);
  });

  test.each([
    "http://169.254.169.254/latest",
    "https://10.0.0.1",
    "https://[::ffff:127.0.0.2]",
    "https://localhost",
    "file:///etc/passwd",
    "javascript:alert(1)",
  ])("cannot name the endpoint %s", async (url) => {
    hostile.answer(paths.configuration, (response) =>
      sendJson(response, configurationAt(hostile.issuer, { authorization_endpoint: url })),
    );
    const { status } = await start(own.id);
    expect(status).toBe(400);
    for (const endpoint of ["token_endpoint", "jwks_uri"]) {
      const back = await forge({ configuration: { [endpoint]: url } });
      expect([back.status, problemOf(back.text)]).toEqual([
        400,
        expect.stringMatching(/must (be|begin|name)|only requests to HTTP/),
      ]);
    }
  });

  test("cannot redirect the service", async () => {
    const before = hostile.asked.length;
    hostile.answer(paths.configuration, (response) => void response.writeHead(302, { location: "/other" }).end());
    const { status, text } = await start(own.id);
    expect([status, problemOf(text)]).toEqual([400, expect.stringContaining("redirect")]);
    expect(hostile.asked.slice(before)).toEqual([paths.configuration]);
  });

  test("that sends without end is left", async () => {
    const closed = new Promise<void>((resolve) => {
      hostile.answer(paths.configuration, (response) => {
        const more = (): void => {
          while (response.write("x".repeat(65_536)));
        };
        response.on("drain", more).on("close", resolve);
        more();
      });
    });
    const { status, text } = await start(own.id);
    expect([status, problemOf(text)]).toEqual([400, expect.stringContaining("262144 bytes")]);
    await closed;
  });

  test("that never answers holds up only sign-ins of its org, and not for long", async () => {
    hostile.answer(paths.configuration, () => {});
    const countAsked = () => hostile.asked.filter((path) => path === paths.configuration).length;
    const before = countAsked();
    const waiting = Array.from({ length: 8 }, () => start(own.id));
    await expect.poll(countAsked).toBe(before + 8);
    expect((await start(own.id)).status).toBe(503);
    expect((await start(shared.id)).status).toBe(303);
    const ended = await Promise.all(waiting);
    expect(ended.map(({ status, text }) => [status, problemOf(text)])).toEqual(
      ended.map(() => [400, expect.stringContaining("did not answer within 5 seconds")]),
    );
  });
});

test("the API does not accept the cookies, and secrets of sign-ins reach no log", async () => {
  await newUser(org, shared.path, "ken");
  const { cookie } = await start(shared.id);
  const { session = "" } = await signIn("ken");
  const response = await fetch(`${urlOf(0)}/iam/v1alpha/me`, { headers: { cookie: `${cookie}; ${session}` } });
  expect(response.status).toBe(401);
  const log = place.servers.flatMap(({ logLines }) => logLines).join("\n");
  for (const secret of [cookie, session, client.secret]) expect(log).not.toContain(secret.replace(/^[^=]*=/, ""));
});
