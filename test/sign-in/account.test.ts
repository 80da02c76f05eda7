// The page that shows everything that can act as a person, and the button that ends it all. On two servers with one database.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { type Consent, accessTokenOf, callsOf, newPkce, ofPage, openConsent } from "../api/consent.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { openSqlClient } from "../support/sql.ts";
import {
  type TokenMember,
  createTokenMember,
  exchangeKey,
  sendForm,
  sharedTokenServers,
  statusWith,
} from "../support/token-servers.ts";

let consent: Consent;
let member: TokenMember;
let cookie: string;
let provider: string;

beforeAll(async () => {
  consent = await openConsent(await sharedTokenServers());
  const identityProvider = { name: "login", issuer: "https://login.example.com", clientId: "tenantry" };
  const { api, org } = consent;
  provider = (await api.identityProviders.createIdentityProvider({ parentPath: org.path, identityProvider })).path;
});
afterAll(() => consent.close());

const { send, signIn, newCode, redeem, refresh } = callsOf(() => ({ ...consent, member, cookie }));

async function newPerson(role?: string): Promise<void> {
  member = await createTokenMember(consent.api, consent.org.path, role);
  cookie = await signIn(consent.org, member);
}

const show = async (of = cookie): Promise<string> => (await send("/account", { headers: { cookie: of } }, 1)).text();

const end = (headers: Record<string, string> = { ...ofPage, cookie }, server = 0): Promise<Response> =>
  send("/account/end", { method: "POST", body: new URLSearchParams(), headers }, server);

const link = (subject: string) =>
  consent.api.identities.createIdentity({
    parentPath: member.path,
    identity: { name: uniqueName("i"), identityProviderPath: provider, subject },
  });

/** As if the person had signed in with an identity, here without its provider. */
const signedInWith = ({ id }: { readonly id: string }) =>
  consent.database.writes
    .updateTable("sessions")
    .set({ identity_id: id })
    .where("member_id", "=", member.id)
    .where("client_id", "=", "browser")
    .execute();

async function allowClient() {
  const pkce = newPkce();
  return redeem(await newCode(pkce), pkce);
}

/** Holds the lock of the org, as a write does that takes long. */
async function holdLock({ servers, org }: Pick<Consent, "servers" | "org">) {
  const [holder, watcher] = [await openSqlClient(servers[0].databaseUrl), await openSqlClient(servers[0].databaseUrl)];
  onTestFinished(() => Promise.all([holder.close(), watcher.close()]).then(() => {}));
  await holder.query("begin");
  await holder.query("select from orgs where id = $1 for no key update", [org.id]);
  const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  return {
    release: () => holder.query("commit"),
    /** Waits until so many other transactions wait for the lock. */
    waitedFor: (count: number) => expect.poll(async () => (await watcher.query(waiting)).length).toBe(count),
  };
}

const newLink = () => createSignInLink(consent.database, { orgId: consent.org.id, memberId: member.id });

const keyStatuses = (key: string) =>
  Promise.all(consent.servers.map((server) => statusWith(server, key, consent.org.path)));

test("shows the keys, identities, clients, sessions and one-time codes of a person without any role, escaped", async () => {
  const other = await createTokenMember(consent.api, consent.org.path, "viewer");
  await newPerson("access-checker");
  await signedInWith(await link("<subject>"));
  await allowClient();
  await exchangeKey(consent.servers[0], member.key, { scope: "offline_access" });
  await newLink();
  const scopes = ["iam.members.get"];
  await consent.api.apiKeys.createApiKey({
    parentPath: member.path,
    apiKey: { name: "narrowed", displayName: "A <key>", scopes },
  });
  const text = await show();
  for (const shown of [
    "&lt;subject&gt;",
    "signed in with it here",
    "A &lt;key&gt;",
    "iam.members.get",
    "does not expire",
    "The &lt;app&gt;",
    "iam.orgs.get",
    "this browser",
    member.key.slice(0, 21),
    "Signs in once",
  ]) {
    expect(text).toContain(shown);
  }
  expect(text).not.toContain("<subject>");
  expect(text).not.toContain(member.key);
  expect(text).not.toContain(other.key.slice(0, 21));
});

describe("the button", () => {
  test("ends everything that can act as the person on both servers, and keeps the identity of this sign-in", async () => {
    await newPerson("owner");
    const elsewhere = await signIn(consent.org, member);
    const [own, foreign] = [await link(uniqueName("own")), await link(uniqueName("foreign"))];
    await signedInWith(own);
    const tokens = await allowClient();
    const pkce = newPkce();
    const code = await newCode(pkce);
    const session = await sendForm(consent.servers[0], "token", {
      grant_type: "client_credentials",
      client_secret: member.key,
      scope: "offline_access",
    });
    const oneTime = await newLink();
    const works = [member.key, accessTokenOf(tokens), accessTokenOf(session)];
    for (const each of works) expect(await keyStatuses(each)).toEqual([200, 200]);

    const response = await end();
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("All ended");
    expect(response.headers.get("set-cookie")).toContain("Max-Age=0");
    for (const each of works) expect(await keyStatuses(each)).toEqual([401, 401]);
    for (const each of [tokens, session]) expect((await refresh(each)).body["error"]).toBe("invalid_grant");
    expect((await redeem(code, pkce)).body["error"]).toBe("invalid_grant");
    for (const each of [cookie, elsewhere]) {
      expect((await send("/account", { headers: { cookie: each } })).status).toBe(303);
    }
    const init = { method: "POST", body: new URLSearchParams({ code: oneTime }), headers: ofPage };
    expect((await send("/sign-in/code", init)).status).toBe(400);
    const { api } = consent;
    const parentPath = member.path;
    expect((await api.apiKeys.listApiKeys({ parentPath })).apiKeys).toEqual([]);
    expect((await api.sessions.listSessions({ parentPath })).sessions).toEqual([]);
    const { identities } = await api.identities.listIdentities({ parentPath });
    expect(identities.map(({ path }) => path)).toEqual([own.path]);
    expect(identities.map(({ path }) => path)).not.toContain(foreign.path);
  });

  test("says what stays: the identity of this sign-in, and nothing after one with a code", async () => {
    await newPerson();
    expect(await show()).toContain("nothing stays to sign in with again");
    await signedInWith(await link(uniqueName("own")));
    expect(await show()).toContain("Only the identity with which you are signed in here stays");
  });

  test("leaves nothing that somebody makes meanwhile", async () => {
    await newPerson("owner");
    const api = createApi("gRPC", consent.servers[1].url, member.key);
    const make = async (): Promise<string | undefined> => {
      const apiKey = { name: uniqueName("k") };
      return (await api.apiKeys.createApiKey({ parentPath: member.path, apiKey }).catch(() => undefined))?.secret;
    };
    const making = Array.from({ length: 20 }, make);
    const ended = end();
    const made = await Promise.all([...making, ...Array.from({ length: 20 }, make)]);
    expect((await ended).status).toBe(200);
    expect((await consent.api.apiKeys.listApiKeys({ parentPath: member.path })).apiKeys).toEqual([]);
    for (const key of made) if (key !== undefined) expect(await keyStatuses(key)).toEqual([401, 401]);
  });

  describe("of a browser whose sign-in ends while the button waits for the lock of the org", () => {
    /** A browser that is signed in with an identity. */
    async function newBrowser(): Promise<{ readonly cookie: string; readonly identity: string }> {
      const [of, { id, path }] = [await signIn(consent.org, member), await link(uniqueName("own"))];
      await consent.database.writes
        .updateTable("sessions")
        .set({ identity_id: id })
        .where("member_id", "=", member.id)
        .where("client_id", "=", "browser")
        .where("identity_id", "is", null)
        .execute();
      return { cookie: of, identity: path };
    }

    const listIdentities = async () =>
      (await consent.api.identities.listIdentities({ parentPath: member.path })).identities.map(({ path }) => path);

    test("ends nothing, when the button in another browser has ended everything", async () => {
      await newPerson("owner");
      const [first, second] = [await newBrowser(), await newBrowser()];
      const { release, waitedFor } = await holdLock(consent);
      const ending = end({ ...ofPage, cookie: first.cookie });
      await waitedFor(1);
      const later = end({ ...ofPage, cookie: second.cookie }, 1);
      await waitedFor(2);
      await release();
      expect((await ending).status).toBe(200);
      const answer = await later;
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining("you are no longer signed in as"),
      ]);
      expect(await listIdentities()).toEqual([first.identity]);
    });

    test("ends nothing, when its session was deleted", async () => {
      await newPerson("owner");
      const browser = await newBrowser();
      const { sessions } = await consent.api.sessions.listSessions({ parentPath: member.path });
      const { release, waitedFor } = await holdLock(consent);
      const deleting = consent.api.sessions.deleteSession({ path: sessions.at(-1)?.path ?? "" });
      await waitedFor(1);
      const ending = end({ ...ofPage, cookie: browser.cookie }, 1);
      await waitedFor(2);
      await release();
      await deleting;
      expect((await ending).status).toBe(400);
      expect(await listIdentities()).toEqual([browser.identity]);
      expect(await keyStatuses(member.key)).toEqual([200, 200]);
    });
  });

  test.each<readonly [string, () => Record<string, string>]>([
    ["a page of another site", () => ({ cookie, "sec-fetch-site": "cross-site" })],
    ["a page of the same domain", () => ({ cookie, "sec-fetch-site": "same-site" })],
    ["a request without the header", () => ({ cookie })],
    ["a browser that is not signed in", () => ({ ...ofPage })],
    ["an API key", () => ({ ...ofPage, authorization: `Bearer ${member.key}` })],
  ])("ends nothing for %s", async (_whose, headers) => {
    await newPerson("owner");
    expect((await end(headers())).status).toBe(400);
    expect((await send("/account/end", { headers: { ...ofPage, cookie } })).status).toBe(405);
    expect(await keyStatuses(member.key)).toEqual([200, 200]);
    expect(await show()).toContain(member.key.slice(0, 21));
  });

  test("is in the change log as what the person did", async () => {
    await newPerson("owner");
    await end();
    const rows = await consent.database.reads
      .selectFrom("changes")
      .select(["actor_id", "method", "resource_type"])
      .where("org_id", "=", consent.org.id)
      .where("method", "=", "tenantry/end-everything")
      .where("actor_id", "=", member.id)
      .execute();
    expect(rows.map((row) => row.resource_type).toSorted()).toEqual(["ApiKey", "Member"]);
  });
});
