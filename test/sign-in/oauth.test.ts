// The endpoints of OAuth 2.0 as HTTP: forms, credentials and errors.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issuer } from "../support/test-server.ts";
import {
  type TokenMember,
  type TokenServers,
  createTokenMember,
  exchangeKey,
  sendForm,
  startTokenServers,
} from "../support/token-servers.ts";
import { exchange, exchangeBytewise, openRaw } from "../http/raw-client.ts";

let place: TokenServers;
let url: string;
let member: TokenMember;
let clientId: string;

beforeAll(async () => {
  place = await startTokenServers({ rateWritesPerCaller: 0 });
  ({ url } = place.servers[0]);
  const { path } = await place.api.orgs.createOrg({ org: { name: "acme" } });
  member = await createTokenMember(place.api, path);
  clientId = (await place.api.apiKeys.getApiKey({ path: member.keyPath })).prefix;
});
afterAll(() => place.close());

const grant = { grant_type: "client_credentials" };
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
});

async function errorOf(form: Record<string, string>, headers: Record<string, string> = {}, endpoint = "token") {
  const { status, body } = await sendForm({ url }, endpoint, form, headers);
  return { status, error: body["error"] };
}

describe("the token endpoint", () => {
  test.each([
    ["the secret in the body", () => ({ form: { client_secret: member.key }, headers: {} })],
    ["the id and the secret", () => ({ form: { client_id: clientId, client_secret: member.key }, headers: {} })],
    ["Basic", () => ({ form: {}, headers: basic(clientId, member.key) })],
    ["Basic without an id", () => ({ form: {}, headers: basic("", member.key) })],
    ["a bearer key", () => ({ form: {}, headers: { authorization: `Bearer ${member.key}` } })],
  ])("takes %s", async (_way, make) => {
    const { form, headers } = make();
    const answer = await sendForm({ url }, "token", { ...grant, ...form }, headers);
    expect(answer.body).toEqual({
      access_token: expect.any(String),
      token_type: "Bearer",
      scope: "*",
      expires_in: 3600,
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("refuses with the errors of RFC 6749", async () => {
    const secret = { client_secret: member.key };
    expect(await errorOf({})).toEqual({ status: 400, error: "invalid_request" });
    expect(await errorOf({ grant_type: "password", ...secret })).toEqual({
      status: 400,
      error: "unsupported_grant_type",
    });
    expect(await errorOf({ grant_type: "__proto__", ...secret })).toEqual({
      status: 400,
      error: "unsupported_grant_type",
    });
    expect(await errorOf(grant)).toEqual({ status: 401, error: "invalid_client" });
    expect(await errorOf({ ...grant, client_secret: "wrong" })).toEqual({ status: 401, error: "invalid_client" });
    expect(await errorOf({ ...grant, ...secret, client_id: "tenantry_other" })).toEqual({
      status: 401,
      error: "invalid_client",
    });
    expect(await errorOf({ ...grant, ...secret }, basic(clientId, member.key))).toEqual({
      status: 401,
      error: "invalid_client",
    });
    for (const lifetime of ["0", "43201", "1e3", "-1", "x", "999999999999"]) {
      expect(await errorOf({ ...grant, ...secret, lifetime })).toEqual({ status: 400, error: "invalid_request" });
    }
  });

  test.each([
    ["scopes", "iam.members.get", "there is no parameter scopes: it is called scope, a list with spaces"],
    [
      "project_path",
      "/orgs/acme/projects/web",
      "there is no parameter project_path: it is called project, at the token endpoint",
    ],
  ])("refuses the name that %s has in the API, and ignores unknown parameters", async (name, value, description) => {
    const form = { ...grant, client_secret: member.key };
    const refused = await sendForm({ url }, "token", { ...form, [name]: value });
    expect([refused.status, refused.body]).toEqual([400, { error: "invalid_request", error_description: description }]);
    expect((await sendForm({ url }, "token", { ...form, audience: value, resource: value })).status).toBe(200);
  });

  test("refuses scopes that name no permission of this service, and says what there is", async () => {
    const ask = async (scope: string) =>
      (await sendForm({ url }, "token", { ...grant, client_secret: member.key, scope })).body;
    for (const scope of ["iam.members.get", "iam.members.*", "iam.*", "resources.*", "compute.instances.start"]) {
      expect(await ask(scope)).toMatchObject({ scope });
    }
    for (const [scope, description] of [
      [
        "iam.member.get",
        /^scope there is no iam.member.get; the nearest is iam.members.get; the collections of iam are .*members/,
      ],
      ["iam.member.*", /the nearest is iam.members.\*; the collections of iam are/],
      [
        "iam.orgs.get iam.members.gett",
        /there is no iam.members.gett; the nearest is iam.members.get; of iam.members there are .*iam.members.get,/,
      ],
    ] as const) {
      expect(await ask(scope)).toEqual({
        error: "invalid_scope",
        error_description: expect.stringMatching(description),
      });
    }
  });

  test("describes errors in the characters that RFC 6749 allows", async () => {
    const scope = 'a"b\\é';
    const { body } = await sendForm({ url }, "token", { ...grant, client_secret: member.key, scope });
    expect(body["error_description"]).toMatch(/^[ !#-[\]-~]+$/);
    expect(body["error_description"]).toContain("got 'a/'b");
  });

  test("takes a form that comes byte by byte, and none that is too long or ends early", async () => {
    const port = Number(new URL(url).port);
    const head = ["POST /oauth2/token HTTP/1.1", "Host: a", "Content-Type: application/x-www-form-urlencoded"];
    const request = (form: string) =>
      [...head, "Connection: close", `Content-Length: ${form.length}`, "", form].join("\r\n");
    const form = new URLSearchParams({ ...grant, client_secret: member.key, scope: "*", ignored: "x".repeat(1_000) });
    expect(await exchangeBytewise(port, request(form.toString()))).toMatch(/^HTTP\/1.1 200 [^]*"access_token":/);
    expect(await exchange(port, request(`a=${"x".repeat(16_383)}`))).toContain(
      "the body must be at most 16384 bytes long",
    );
    const { socket, closed } = await openRaw(port);
    socket.end(request(form.toString()).slice(0, -1));
    await closed;
    expect(await exchange(port, request("a=b"))).toContain("invalid_request");
    expect(place.servers[0].logLines.join("")).not.toContain("an OAuth request failed");
  });

  test("takes no parameter from the URL, no parameter twice, and no other body", async () => {
    const send = async (path: string, init: RequestInit) => {
      const response = await fetch(`${url}${path}`, { method: "POST", ...init });
      return { status: response.status, error: ((await response.json()) as { error: string }).error };
    };
    const invalid = { status: 400, error: "invalid_request" };
    const form = new URLSearchParams({ ...grant, client_secret: member.key });
    expect(await send(`/oauth2/token?client_secret=${member.key}`, { body: form })).toEqual(invalid);
    const twice = new URLSearchParams([...form, ["grant_type", "client_credentials"]]);
    expect(await send("/oauth2/token", { body: twice })).toEqual(invalid);
    expect(await send("/oauth2/token", { body: "{}", headers: { "content-type": "application/json" } })).toEqual(
      invalid,
    );
    expect(await send("/oauth2/token", { body: new URLSearchParams({ x: "y".repeat(20_000) }) })).toEqual(invalid);
    const get = await fetch(`${url}/oauth2/token`);
    expect({ status: get.status, allow: get.headers.get("allow") }).toEqual({ status: 405, allow: "POST" });
  });
});

test("revocation answers alike for a token and for any other text, with and without credentials", async () => {
  const token = await exchangeKey({ url }, member.key);
  for (const text of [token, token, "x", "a.b.c"]) {
    expect(await sendForm({ url }, "revoke", { token: text })).toMatchObject({ status: 200, body: {} });
  }
  expect(await errorOf({ token, client_secret: "wrong" }, {}, "revoke")).toEqual({
    status: 401,
    error: "invalid_client",
  });
});

test("the metadata names the endpoints, and the keys are public only", async () => {
  for (const page of ["openid-configuration", "oauth-authorization-server"]) {
    expect(await (await fetch(`${url}/.well-known/${page}`)).json()).toMatchObject({
      issuer,
      token_endpoint: `${issuer}/oauth2/token`,
      introspection_endpoint: `${issuer}/oauth2/introspect`,
      revocation_endpoint: `${issuer}/oauth2/revoke`,
      tenantry_command_line_client_id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
    });
  }
  const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: object[] };
  expect(keys.map((key) => Object.keys(key).toSorted())).toEqual([["alg", "crv", "kid", "kty", "use", "x", "y"]]);
});

test("tells nobody a key or a token: not in the log, in an error or in a change", async () => {
  const token = await exchangeKey({ url }, member.key);
  await sendForm({ url }, "introspect", { token, client_secret: member.key });
  await sendForm({ url }, "revoke", { token });
  const answers = [
    await sendForm({ url }, "token", { ...grant, client_secret: `${member.key}x` }),
    await sendForm({ url }, "token", { grant_type: member.key, client_secret: token }),
    await sendForm({ url }, "introspect", { token, client_secret: token }),
  ];
  const { openSqlClient } = await import("../support/sql.ts");
  const sql = await openSqlClient(place.servers[0].databaseUrl);
  const changes = await sql.query("select * from changes");
  await sql.close();
  const text = JSON.stringify([
    answers.map(({ body }) => body),
    changes,
    place.servers.map(({ logLines }) => logLines),
  ]);
  expect(text).not.toContain(member.key);
  expect(text).not.toContain(token.split(".")[2]);
});

test("rate limits count valid credentials only, so that nobody uses up the limit of another", async () => {
  const limited = await startTokenServers({ rateWritesPerCaller: 3 });
  try {
    const { path } = await limited.api.orgs.createOrg({ org: { name: "acme" } });
    const { url: at } = limited.servers[1];
    const key = limited.servers[0].operatorKey;
    for (let wrong = 0; wrong < 10; wrong++) {
      const near = `${key.slice(0, -8)}${"x".repeat(8)}`;
      expect((await sendForm({ url: at }, "token", { ...grant, client_secret: near })).status).toBe(401);
    }
    const statuses = [];
    for (let right = 0; right < 4; right++) {
      statuses.push((await sendForm({ url: at }, "token", { ...grant, client_secret: key })).status);
    }
    expect({ path, statuses }).toEqual({ path: "/orgs/acme", statuses: [200, 200, 200, 429] });
  } finally {
    await limited.close();
  }
});
