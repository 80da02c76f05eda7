// What identity providers answer, and what others make of their answers: a real provider, one of another org, and hostile ones.
import { SignJWT, UnsecuredJWT, exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Api, createApi } from "../support/api.ts";
import {
  type MadeUpIssuer,
  type OpenIdProvider,
  client,
  configurationAt,
  passThrough,
  paths,
  sendJson,
  startMadeUpIssuer,
} from "../support/openid-issuers.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";
import {
  type LinkedProvider,
  type ProviderPlace,
  callsIn,
  identityProviderNetworks,
  openProviderPlace,
} from "./provider-place.ts";

let server: TestServer;
let place: ProviderPlace;
let api: Api;
let org: string;
let openId: OpenIdProvider;
let shared: LinkedProvider;

beforeAll(async () => {
  server = await startTestServer({ issuer, identityProviderNetworks });
  api = createApi("gRPC", server.url, server.operatorKey);
  place = await openProviderPlace([server], api);
  ({ org, openId, shared } = place);
});
afterAll(async () => {
  await openId.close();
  await server.close();
  // Whatever a provider answers, the secret reaches no log.
  expect(server.logLines.join("\n")).not.toContain(client.secret);
});

const { newOrg, newProvider, newUser, urlOf, start, comeBack, signIn, tokenOf } = callsIn(() => place);

/** Reads the page that says why somebody is not signed in. */
const problemOf = (text: string): string => /Not signed in: ([^<]*)</.exec(text)?.[1] ?? text;

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
  const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;

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
    ["the authorized party of another client", { claims: { azp: "another" } }, /azp/],
    ["an issue in the future", { claims: { iat: inAnHour, exp: inAnHour + 60 } }, /iat/],
    ["no subject", { claims: { sub: "" } }, /sub/],
    ["a subject with NUL", { claims: { sub: "victim\0" } }, /sub/],
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

  test("gets the secret as an update says, and as before after an update of something else", async () => {
    const other = await newProvider(org, hostile.issuer);
    const headers = {
      authorization: `Bearer ${server.operatorKey}`,
      "content-type": "application/json",
    };
    const patch = async (body: object): Promise<unknown> => {
      const init = { method: "PATCH", headers, body: JSON.stringify(body) };
      return (await fetch(`${server.url}/iam/v1alpha${other.path}`, init)).json();
    };
    const method = { token_endpoint_auth_method: "CLIENT_SECRET_POST" };
    expect(await patch(method)).toMatchObject(method);
    expect(await patch({ display_name: "Another" })).toMatchObject({ ...method, display_name: "Another" });
    expect(await patch({ token_endpoint_auth_method: "none" })).toMatchObject({ error: { code: 400 } });
  });

  test("accepts an ID token that names this client as its authorized party", async () => {
    expect((await forge({ claims: { azp: client.id } })).status).toBe(303);
  });

  const basic = `Basic ${Buffer.from(`${client.id}:${client.secret.replaceAll("-", "%2D")}`).toString("base64")}`;
  const [header, body] = [
    [basic, null],
    [undefined, client.secret],
  ];
  const { UNSPECIFIED, BASIC, POST } = { UNSPECIFIED: 0, BASIC: 1, POST: 2 };

  test.each([
    ["in the header where the provider lists no methods", undefined, UNSPECIFIED, header],
    ["in the header where the provider lists both", ["client_secret_post", "client_secret_basic"], UNSPECIFIED, header],
    ["in the body where the provider lists it alone", ["client_secret_post", "private_key_jwt"], UNSPECIFIED, body],
    ["in the body where that is set", ["client_secret_basic"], POST, body],
    ["in the header where that is set", ["client_secret_post"], BASIC, header],
  ])("gets the secret %s", async (_where, supported, method, expected) => {
    const configuration = { token_endpoint_auth_methods_supported: supported };
    hostile.answer(paths.configuration, (response) =>
      sendJson(response, configurationAt(hostile.issuer, configuration)),
    );
    let got: unknown;
    hostile.answer(paths.token, (response, { headers }, form) => {
      got = [headers.authorization, new URLSearchParams(form).get("client_secret")];
      response.writeHead(500).end();
    });
    const other = await newProvider(org, hostile.issuer, { tokenEndpointAuthMethod: method });
    const read = await api.identityProviders.getIdentityProvider({ path: other.path });
    expect(read.tokenEndpointAuthMethod).toBe(method);
    const { url, cookie } = await start(other.id);
    const state = new URL(url).searchParams.get("state") ?? "";
    await comeBack(`${other.redirectUri}?${new URLSearchParams({ code: "c", state }).toString()}`, cookie);
    expect(got).toEqual(expected);
  });

  test("does not get the code of another provider, to which the sign-in was sent", async () => {
    const { url, cookie } = await start(shared.id);
    const before = hostile.asked.length;
    const state = new URL(url).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ code: "of-the-other", state });
    const { status, text } = await comeBack(`${own.redirectUri}?${query.toString()}`, cookie);
    expect([status, problemOf(text)]).toEqual([400, expect.stringContaining("started several others")]);
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

  test("that cannot be used leaves the other ways to sign in on the page, also those of its org", async () => {
    hostile.answer(paths.configuration, (response) => void response.writeHead(500).end());
    const { status, text } = await start(own.id, { org: org.split("/")[2] ?? "", return_to: "/docs" });
    expect([status, problemOf(text)]).toEqual([400, expect.stringContaining("cannot be used")]);
    for (const shown of [own.id, shared.id, 'name="return_to" value="/docs"']) expect(text).toContain(shown);
  });
});
