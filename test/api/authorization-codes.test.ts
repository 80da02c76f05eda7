// What an authorization code is worth: for whom, for how long and how often, and what ends it and the tokens that it led to. On two
// servers with one database.
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client } from "../../gen/iam/v1alpha/client_pb.ts";
import { type Database } from "../../src/database/database.ts";
import { createSecretHandle, parseSecretHandle } from "../../src/identity/secret-handle.ts";
import { type Api, uniqueName } from "../support/api.ts";
import { rounds } from "../support/rounds.ts";
import {
  type OAuthAnswer,
  type TokenMember,
  type TokenServers,
  createTokenMember,
  sendForm,
  startTokenServers,
} from "../support/token-servers.ts";
import {
  type Consent,
  type Pkce,
  accessTokenOf,
  callsOf,
  locationOf,
  newPkce,
  ofPage,
  openConsent,
} from "./consent.ts";

// Their own, because all codes expire in a test, and all tables are searched for secrets.
let place: TokenServers;
let consent: Consent;
let database: Database;
let api: Api;
let org: Consent["org"];
let member: TokenMember;
let client: Client;
let confidential: Client;

beforeAll(async () => {
  place = await startTokenServers();
  consent = await openConsent(place);
  ({ database, api, org, member, client, confidential } = consent);
});
afterAll(async () => {
  await consent.close();
  await place.close();
});

const { register, send, signIn, queryOf, ask, decide, newCode, redeem, refresh, statusesOf } = callsOf(() => consent);

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

  test("says the customer of its row, and leads to none without it", async () => {
    const pkce = newPkce();
    const code = parseSecretHandle(await newCode(pkce));
    const { rows } = await sql`select customer_id from authorization_codes where id = ${code?.id}`.execute(
      database.reads,
    );
    expect(rows).toEqual([{ customer_id: code?.customerId }]);
    const { id, text, hash } = createSecretHandle();
    await sql`update authorization_codes set id = ${id}, hash = ${hash} where id = ${code?.id}`.execute(
      database.writes,
    );
    expect((await redeem(text, pkce)).body["error"]).toBe("invalid_grant");
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

  describe("that repeats a refresh soon", () => {
    const elsewhere = { "user-agent": "another machine" };
    const startAs = async ({ id }: Client, secret: Record<string, string>) => {
      const pkce = newPkce();
      return redeem(await newCode(pkce, { client_id: id }), pkce, { client_id: id, ...secret });
    };
    const repeat = ({ body }: OAuthAnswer, form: Record<string, string>, headers: Record<string, string> = {}) => {
      const repeated = { grant_type: "refresh_token", refresh_token: String(body["refresh_token"]), ...form };
      return sendForm(place.servers[1], "token", repeated, headers);
    };

    test("from elsewhere gets an access token only, if it has authenticated, and its session goes on", async () => {
      const own = { client_id: confidential.id, client_secret: confidential.secret ?? "" };
      const first = await startAs(confidential, own);
      const next = await refresh(first, own);
      const again = await repeat(first, own, elsewhere);
      expect(await statusesOf(again)).toEqual([200, 200]);
      expect(again.body["refresh_token"]).toBeUndefined();
      expect((await refresh(next, own)).status).toBe(200);
    });

    test("from elsewhere ends the session of a public client", async () => {
      const own = { client_id: client.id };
      const first = await startAs(client, own);
      const next = await refresh(first, own);
      expect((await repeat(first, own, elsewhere)).body["error"]).toBe("invalid_grant");
      expect(await statusesOf(next)).toEqual([401, 401]);
    });

    test("of another client ends the session, and is refused before that while the token is the current one", async () => {
      const other = await register(org.path);
      const first = await startAs(client, { client_id: client.id });
      expect((await repeat(first, { client_id: other.id })).body["error"]).toBe("invalid_grant");
      const next = await refresh(first, { client_id: client.id });
      expect(next.status).toBe(200);
      expect((await repeat(first, { client_id: other.id })).body["error"]).toBe("invalid_grant");
      expect(await statusesOf(next)).toEqual([401, 401]);
    });
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
