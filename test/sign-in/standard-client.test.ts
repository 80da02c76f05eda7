// A client that many programs use, `openid-client`, with nothing but the address of the service and an API key.
import { jwtVerify } from "jose";
import * as oauth from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApi } from "../support/api.ts";
import { publishedKeys } from "../support/published-keys.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type TokenMember, createTokenMember, statusWith } from "../support/token-servers.ts";

let server: TestServer;
let issuer: string;
let org: string;
let member: TokenMember;

beforeAll(async () => {
  server = await startTestServer();
  issuer = `http://localhost:${new URL(server.url).port}`;
  const api = createApi("gRPC", server.url, server.operatorKey);
  org = (await api.orgs.createOrg({ org: { name: "acme" } })).path;
  member = await createTokenMember(api, org);
});
afterAll(() => server.close());

const algorithms = ["oauth2", "oidc"] as const;

function discover(auth: oauth.ClientAuth, algorithm: (typeof algorithms)[number] = "oauth2") {
  const prefix = member.key.slice(0, 21);
  const options = { algorithm, execute: [oauth.allowInsecureRequests] };
  return oauth.discovery(new URL(issuer), prefix, undefined, auth, options);
}

describe.each([
  ["client_secret_post", () => oauth.ClientSecretPost(member.key)],
  ["client_secret_basic", () => oauth.ClientSecretBasic(member.key)],
])("with %s", (_name, auth) => {
  test("issues, refreshes, introspects and revokes", async () => {
    const config = await discover(auth());
    const scope = "iam.orgs.get offline_access";
    const first = await oauth.clientCredentialsGrant(config, { scope });
    expect(first).toMatchObject({ token_type: "bearer", scope: "iam.orgs.get", expires_in: 3_600 });
    expect(await statusWith(server, first.access_token, org)).toBe(200);
    const next = await oauth.refreshTokenGrant(config, first.refresh_token ?? "");
    expect(next.refresh_token).not.toBe(first.refresh_token);
    const token = next.access_token;
    expect(await oauth.tokenIntrospection(config, token)).toMatchObject({ active: true, sub: member.id });
    await oauth.tokenRevocation(config, next.refresh_token ?? "");
    expect(await oauth.tokenIntrospection(config, token)).toEqual({ active: false });
    expect(await statusWith(server, token, org)).toBe(401);
    const late = oauth.refreshTokenGrant(config, next.refresh_token ?? "");
    await expect(late).rejects.toMatchObject({ error: "invalid_grant", status: 400 });
  });

  test("understands what is refused", async () => {
    const config = await discover(auth());
    const asked = oauth.clientCredentialsGrant(config, { scope: "no scope" });
    await expect(asked).rejects.toMatchObject({ error: "invalid_scope", status: 400 });
    const device = oauth.genericGrantRequest(config, "urn:ietf:params:oauth:grant-type:device_code", {});
    await expect(device).rejects.toMatchObject({ error: "unsupported_grant_type", status: 400 });
  });
});

test.each(algorithms)("finds the service by its metadata for %s, and its keys", async (algorithm) => {
  const config = await discover(oauth.ClientSecretPost(member.key), algorithm);
  const { access_token: token } = await oauth.clientCredentialsGrant(config);
  const { jwks_uri: uri = "" } = config.serverMetadata();
  const { payload } = await jwtVerify(token, publishedKeys(uri), { issuer, audience: issuer });
  expect(payload.sub).toBe(member.id);
});

test("gets a token for the scope openid, which is not granted, and no ID token", async () => {
  const config = await discover(oauth.ClientSecretPost(member.key), "oidc");
  const tokens = await oauth.clientCredentialsGrant(config, { scope: "openid iam.orgs.get offline_access" });
  expect([tokens.scope, tokens.id_token]).toEqual(["iam.orgs.get", undefined]);
  const parameters = { scope: "openid offline_access" };
  expect((await oauth.refreshTokenGrant(config, tokens.refresh_token ?? "", parameters)).scope).toBe("iam.orgs.get");
});

test("a token that lacks a scope is challenged to get one with it", async () => {
  const config = await discover(oauth.ClientSecretPost(member.key));
  const { access_token: token } = await oauth.clientCredentialsGrant(config, { scope: "iam.members.get" });
  const asked = oauth.fetchProtectedResource(config, token, new URL(`${server.url}/iam/v1alpha${org}`), "GET");
  const parameters = { error: "insufficient_scope", scope: "iam.orgs.get" };
  await expect(asked).rejects.toMatchObject({ cause: [{ scheme: "bearer", parameters }] });
});

test("a wrong secret is a challenge to authenticate", async () => {
  const config = await discover(oauth.ClientSecretPost(`${member.key}x`));
  await expect(oauth.clientCredentialsGrant(config)).rejects.toMatchObject({ status: 401 });
});
