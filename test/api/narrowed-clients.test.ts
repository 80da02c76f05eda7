// A client that is narrowed after a person has allowed it: codes and sessions get what it has at that time. On two servers with one
// database.
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../gen/iam/v1alpha/client_pb.ts";
import { type OAuthAnswer, sharedTokenServers } from "../support/token-servers.ts";
import { type Changes, type Consent, callsOf, newPkce, openConsent, redirectUri } from "./consent.ts";

let consent: Consent;
beforeAll(async () => {
  consent = await openConsent(await sharedTokenServers());
});
afterAll(() => consent.close());

const { register, newCode, redeem, refresh } = callsOf(() => consent);

const secondUri = "https://other.example.com/callback";

const newClient = (fields: object = {}) => register(consent.org.path, fields);

const masks = { redirectUris: "redirect_uris", scopes: "scopes" } as const;
type Fields = Partial<Pick<Client, keyof typeof masks>>;

function narrow({ path }: Client, client: Fields): Promise<Client> {
  const paths = (Object.keys(client) as (keyof Fields)[]).map((name) => masks[name]);
  return consent.api.clients.updateClient({ path, client, updateMask: { paths } });
}

interface Allowed {
  readonly code: string;
  /** Exchanges the code, on the second server. */
  readonly get: () => Promise<OAuthAnswer>;
}

async function allow({ id }: Client, changes: Changes = {}): Promise<Allowed> {
  const pkce = newPkce();
  const code = await newCode(pkce, { client_id: id, ...changes });
  const uri = changes["redirect_uri"] ?? redirectUri;
  return { code, get: () => redeem(code, pkce, { client_id: id, redirect_uri: uri }, 1) };
}

const scopeOf = ({ body }: OAuthAnswer): unknown => body["scope"];

describe("a code that was issued before", () => {
  test.each([
    ["everything", "*", ["iam.orgs.*"], "iam.orgs.*"],
    ["more scopes", "iam.orgs.get iam.members.*", ["iam.members.get", "iam.groups.*"], "iam.members.get"],
    ["the same", "iam.orgs.get", ["iam.orgs.*"], "iam.orgs.get"],
  ])("that allows %s is worth what the client has then", async (_what, scope, scopes, expected) => {
    const client = await newClient();
    const { get } = await allow(client, { scope: `${scope} offline_access` });
    await narrow(client, { scopes });
    const tokens = await get();
    expect(scopeOf(tokens)).toBe(expected);
    await narrow(client, { scopes: [] });
    expect(scopeOf(await refresh(tokens))).toBe(expected);
  });

  test("is refused if the client has none of the scopes, or no longer the redirect URI, and works when it has", async () => {
    const client = await newClient({ redirectUris: [redirectUri, secondUri] });
    const { get } = await allow(client, { redirect_uri: secondUri });
    await narrow(client, { scopes: ["iam.members.get"] });
    expect((await get()).body).toEqual({
      error: "invalid_grant",
      error_description:
        "the client may no longer ask for any of the scopes that the person allowed: ask the person again",
    });
    await narrow(client, { scopes: [], redirectUris: [redirectUri] });
    expect((await get()).body).toEqual({
      error: "invalid_grant",
      error_description: `the client no longer has the redirect_uri ${secondUri}: ask the person again`,
    });
    await narrow(client, { redirectUris: [redirectUri, secondUri] });
    expect((await get()).status).toBe(200);
  });

  test("for any port of a loopback address is redeemed and refreshed while the client has the address", async () => {
    const client = await newClient({ redirectUris: ["http://127.0.0.1/callback", redirectUri] });
    const { get } = await allow(client, { redirect_uri: "http://127.0.0.1:4711/callback" });
    const tokens = await get();
    const next = await refresh(tokens);
    expect([tokens.status, next.status]).toEqual([200, 200]);
    await narrow(client, { redirectUris: [redirectUri] });
    expect((await refresh(next)).body["error"]).toBe("invalid_grant");
  });
});

describe("a session that was started before", () => {
  test("is refreshed with what the client has then, on both servers", async () => {
    const client = await newClient();
    const { get } = await allow(client, { scope: "iam.orgs.* iam.members.get offline_access" });
    const tokens = await get();
    expect(scopeOf(tokens)).toBe("iam.orgs.* iam.members.get");
    await narrow(client, { scopes: ["iam.orgs.get"] });
    const next = await refresh(tokens);
    expect(scopeOf(next)).toBe("iam.orgs.get");
    await narrow(client, { scopes: ["iam.orgs.get", "iam.members.*"] });
    expect(scopeOf(await refresh(next, {}, 1))).toBe("iam.orgs.get iam.members.get");
  });

  test("is not refreshed without the redirect URI or any scope, goes on when they are back, and ends by a replay", async () => {
    const client = await newClient({ redirectUris: [redirectUri, secondUri] });
    const tokens = await (await allow(client, { redirect_uri: secondUri })).get();
    await narrow(client, { redirectUris: [redirectUri] });
    for (const server of [0, 1]) expect((await refresh(tokens, {}, server)).body["error"]).toBe("invalid_grant");
    await narrow(client, { redirectUris: [redirectUri, secondUri], scopes: ["iam.members.get"] });
    expect((await refresh(tokens)).body["error"]).toBe("invalid_grant");
    await narrow(client, { scopes: [] });
    const next = await refresh(await refresh(tokens));
    expect(next.status).toBe(200);
    // A token that was replaced twice ends the session, whatever the client has.
    await narrow(client, { scopes: ["iam.members.get"] });
    expect((await refresh(tokens)).body["error"]).toBe("invalid_grant");
    await narrow(client, { scopes: [] });
    expect((await refresh(next)).body["error"]).toBe("invalid_grant");
  });

  test("by a server of an earlier version, which keeps no redirect URI, is compared by its scopes", async () => {
    const client = await newClient({ redirectUris: [redirectUri, secondUri] });
    const tokens = await (await allow(client, { redirect_uri: secondUri, scope: "* offline_access" })).get();
    await sql`update sessions set redirect_uri = null where oauth_client_id = ${client.id}`.execute(
      consent.database.writes,
    );
    await narrow(client, { redirectUris: [redirectUri], scopes: ["iam.orgs.get"] });
    expect(scopeOf(await refresh(tokens))).toBe("iam.orgs.get");
  });
});
