// A person who is linked with members of several orgs by a provider of the installation: what it accepts and chooses, and what the
// orgs learn of it. On two servers with one database.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Identity_State } from "../../gen/iam/v1alpha/identity_pb.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { openSqlClient } from "../support/sql.ts";
import { type TokenServers, createTokenMember, startTokenServers, statusWith } from "../support/token-servers.ts";
import {
  type LinkedProvider,
  type ProviderPlace,
  callsIn,
  identityProviderNetworks,
  ofPage,
  openProviderPlace,
} from "./provider-place.ts";

let tokenServers: TokenServers;
let servers: TokenServers["servers"];
let place: ProviderPlace;
let api: Api;
let shared: LinkedProvider;

beforeAll(async () => {
  tokenServers = await startTokenServers({ identityProviderNetworks });
  ({ servers, api } = tokenServers);
  place = await openProviderPlace(servers, api);
  ({ shared } = place);
});
afterAll(async () => {
  await place.openId.close();
  await tokenServers.close();
});

const { newOrg, newProvider, newUser, urlOf, signIn, decide, showChoices, enter, askToken, tokenOf } = callsIn(
  () => place,
);

type User = Awaited<ReturnType<typeof newUser>>;

interface Linked extends User {
  readonly org: string;
}

/** Links a person with a member of a new org. */
async function link(person: string): Promise<Linked> {
  const org = await newOrg();
  return { org, ...(await newUser(org, shared.path, person)) };
}

/** Links a person with a member of a new org, and accepts it. */
async function accepted(person: string): Promise<Linked> {
  const user = await link(person);
  const { session = "" } = await signIn(person);
  expect((await decide(session, user.identityId)).status).toBe(303);
  return user;
}

/** Everything that the owners of an org can read about a member and its identity, and the revision of the org. */
async function seenBy({ org, path, identity }: Linked): Promise<object> {
  const sql = await openSqlClient(servers[0].databaseUrl);
  const [row] = await sql.query("select revision from orgs where name = $1", [org.split("/")[2]]);
  await sql.close();
  return {
    revision: (row as { revision: string }).revision,
    member: await api.members.getMember({ path }),
    identity: await api.identities.getIdentity({ path: identity }),
    sessions: (await api.sessions.listSessions({ parentPath: path })).sessions,
  };
}

const signOut = (session: string): Promise<Response> => {
  const headers = { ...ofPage, cookie: session };
  return fetch(`${urlOf(1)}/sign-out`, { method: "POST", body: new URLSearchParams(), headers, redirect: "manual" });
};

const stateOf = async ({ identity }: User) => (await api.identities.getIdentity({ path: identity })).state;
const countSessions = async ({ path }: User) => (await api.sessions.listSessions({ parentPath: path })).sessions.length;

describe("an identity of a provider of the installation", () => {
  test("tells its org nothing of its person, and signs nobody in, until the person accepts it", async () => {
    const person = uniqueName("bob");
    const home = await accepted(person);
    const foreign = await link(person);
    const before = await seenBy(foreign);
    expect(before).toMatchObject({ identity: { state: Identity_State.PENDING }, sessions: [] });
    const { session = "", location } = await signIn(person);
    expect(location).toBe("/sign-in/choice?return_to=%2Fconsole%2F");
    expect((await decide(session, home.identityId, "sign-in")).location).toBe("/docs");
    expect([(await askToken(session, home.path)).status, (await askToken(session, foreign.path)).status]).toEqual([
      200, 401,
    ]);
    expect((await decide(session, foreign.identityId, "sign-in")).status).toBe(400);
    expect(await seenBy(foreign)).toEqual(before);
    expect((await decide(session, foreign.identityId, "decline")).status).toBe(303);
    expect(await seenBy(foreign)).toEqual(before);
  });

  test("is shown with its org and who created it, and signs its person in with one click", async () => {
    const person = uniqueName("carol");
    const org = await api.orgs.createOrg({ org: { name: uniqueName("org"), displayName: "Acme & <sons>" } });
    const owner = await createTokenMember(api, org.path, "owner");
    const { path } = await api.members.createMember({ parentPath: org.path, member: { name: "carol" } });
    const identity = { name: "login", identityProviderPath: shared.path, subject: person };
    const ofOwner = createApi("gRPC", servers[0].url, owner.key);
    const created = await ofOwner.identities.createIdentity({ parentPath: path, identity });
    expect(created.state).toBe(Identity_State.PENDING);
    const { session = "" } = await signIn(person);
    const text = await showChoices(session);
    for (const shown of [
      "<bdi>carol</bdi> in <bdi>Acme &amp; &lt;sons&gt;</bdi>",
      path,
      owner.path,
      "Shared &lt;login&gt;",
    ]) {
      expect(text).toContain(shown);
    }
    expect(text).not.toContain(" checked");
    expect(await decide(session, created.id)).toMatchObject({ status: 303, location: "/docs" });
    expect(await statusWith(servers[1], await tokenOf(session, path), org.path)).toBe(403);
    const read = await api.identities.getIdentity({ path: created.path });
    expect([read.state, read.etag === created.etag]).toEqual([Identity_State.ACTIVE, false]);
    const again = await signIn(person);
    expect([again.location, (await askToken(again.session ?? "", path)).status]).toEqual(["/console/", 200]);
  });

  test("that is declined is not asked about again, and can be accepted later", async () => {
    const person = uniqueName("dan");
    const [home, other] = [await accepted(person), await link(person)];
    const { session = "" } = await signIn(person);
    expect((await decide(session, other.identityId, "decline")).location).toBe("/sign-in/choice?return_to=%2Fdocs");
    const next = await signIn(person);
    expect([next.location, (await askToken(next.session ?? "", home.path)).status]).toEqual(["/console/", 200]);
    expect(await showChoices(next.session ?? "")).toMatch(/<summary>Declined<\/summary>[^]*Accept/);
    expect(await stateOf(other)).toBe(Identity_State.PENDING);
    expect((await decide(next.session ?? "", other.identityId)).status).toBe(303);
    expect(await stateOf(other)).toBe(Identity_State.ACTIVE);
  });

  test("that is declined alone leaves its person signed in as nobody", async () => {
    const person = uniqueName("dora");
    const other = await link(person);
    const { session = "" } = await signIn(person);
    await decide(session, other.identityId, "decline");
    const response = await fetch(`${urlOf(0)}/account`, { headers: { cookie: session }, redirect: "manual" });
    expect(response.headers.get("location")).toBe("/sign-in/choice?return_to=%2Faccount");
    expect([(await askToken(session, other.path)).status, await countSessions(other)]).toEqual([401, 0]);
    const page = await showChoices(session);
    expect(page).toContain("There is no other member to choose");
    expect(page).toContain('action="/sign-out"');
    await signOut(session);
    expect(await showChoices(session)).toBe("");
  });

  test("can be found by its state, and a provider of the org itself needs no acceptance", async () => {
    const { org, path } = await link(uniqueName("eve"));
    const own = await newProvider(org, place.openId.issuer);
    const identity = { name: "own", identityProviderPath: own.path, subject: uniqueName("eve") };
    expect(await api.identities.createIdentity({ parentPath: path, identity })).toMatchObject({
      state: Identity_State.ACTIVE,
    });
    const namesWith = async (filter: string): Promise<string[]> =>
      (await api.identities.listIdentities({ parentPath: path, filter })).identities.map(({ name }) => name);
    expect([await namesWith("state = PENDING"), await namesWith("state = ACTIVE")]).toEqual([["login"], ["own"]]);
  });
});

describe("a choice", () => {
  test("starts a session for the member that is chosen, and for no other", async () => {
    const person = uniqueName("fay");
    const [one, two] = [await accepted(person), await accepted(person)];
    for (const { path } of [one, two]) await api.members.revokeTokens({ path });
    const before = await seenBy(two);
    const { session = "", location } = await signIn(person);
    expect([location, await showChoices(session)]).toEqual([
      "/sign-in/choice?return_to=%2Fconsole%2F",
      expect.stringContaining(two.path),
    ]);
    expect([await countSessions(one), await countSessions(two)]).toEqual([0, 0]);
    expect((await decide(session, one.identityId, "sign-in", ofPage, 1)).status).toBe(303);
    expect([await countSessions(one), await seenBy(two)]).toEqual([1, before]);
    // The browser can be signed in as the other one later, too.
    expect((await decide(session, two.identityId, "sign-in")).status).toBe(303);
    expect([await countSessions(one), await countSessions(two)]).toEqual([1, 1]);
    expect((await signOut(session)).status).toBe(303);
    expect([await countSessions(one), await countSessions(two)]).toEqual([0, 0]);
  });

  test("is made once, also by 16 requests at once on two servers", async () => {
    const person = uniqueName("gil");
    const user = await link(person);
    const { session = "" } = await signIn(person);
    const all = Array.from({ length: 16 }, (_, at) =>
      decide(session, user.identityId, "accept", ofPage, at % 2 === 0 ? 0 : 1),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([303, ...Array.from({ length: 15 }, () => 400)]);
    expect(await countSessions(user)).toBe(1);
    const { sessions } = await api.sessions.listSessions({ parentPath: user.path });
    await api.sessions.deleteSession({ path: sessions[0]?.path ?? "" });
    expect((await decide(session, user.identityId, "sign-in")).status).toBe(400);
  });

  test.each<readonly [string, (user: Linked) => Promise<unknown>]>([
    ["its member is suspended", ({ path }) => api.members.suspendMember({ path })],
    [
      "its member was suspended for a while",
      async ({ path }) => {
        await api.members.suspendMember({ path });
        await api.members.activateMember({ path });
      },
    ],
    ["all tokens of its member were revoked", ({ path }) => api.members.revokeTokens({ path })],
    ["its member is deleted", ({ path }) => api.members.deleteMember({ path })],
    ["its org is suspended", ({ org }) => api.orgs.suspendOrg({ path: org })],
    ["its identity was deleted", ({ identity }) => api.identities.deleteIdentity({ path: identity })],
  ])("is refused once %s, and accepts nothing", async (_when, end) => {
    const person = uniqueName("hal");
    const user = await link(person);
    const { session = "" } = await signIn(person);
    await end(user);
    expect((await decide(session, user.identityId)).status).toBe(400);
    const sql = await openSqlClient(servers[0].databaseUrl);
    const rows = await sql.query("select accept_time from identities where id = $1", [user.identityId]);
    const sessions = await sql.query("select from sessions where identity_id = $1", [user.identityId]);
    await sql.close();
    expect([rows.filter((row) => (row as { accept_time: unknown }).accept_time !== null), sessions]).toEqual([[], []]);
  });

  test("waits for a lock, and is decided by what is true when it has it", async () => {
    const person = uniqueName("ida");
    const user = await link(person);
    const { session = "" } = await signIn(person);
    const held = await holdLock(user.org);
    const choosing = decide(session, user.identityId);
    await held.waitedFor();
    await held.client.query(
      "update members set state = 'SUSPENDED' where id = (select member_id from identities where id = $1)",
      [user.identityId],
    );
    await held.release();
    expect((await choosing).status).toBe(400);
  });

  test("is made with the cookie of its browser, by a page of the service, of what was offered", async () => {
    const [person, mallory] = [uniqueName("jon"), uniqueName("mal")];
    const [user, other] = [await link(person), await link(mallory)];
    const [{ session = "" }, { session: foreign = "" }] = [await signIn(person), await signIn(mallory)];
    const refused = [
      await decide(foreign, user.identityId),
      await decide("", user.identityId),
      await decide(session, other.identityId),
      await decide(session, other.identityId, "decline"),
      await decide(session, "x"),
      await decide(session, user.identityId, "allow"),
      await decide(session, user.identityId, "accept", { "sec-fetch-site": "cross-site" }),
      await decide(session, user.identityId, "accept", { "sec-fetch-site": "same-site" }),
      await decide(session, user.identityId, "accept", {}),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 400));
    expect([await stateOf(user), await stateOf(other)]).toEqual([Identity_State.PENDING, Identity_State.PENDING]);
    expect(await showChoices(foreign)).not.toContain("<summary>Declined</summary>");
    expect((await decide(session, user.identityId)).status).toBe(303);
  });

  test("hides nothing of other members on the account page, however many sessions its org starts for it", async () => {
    const person = uniqueName("lee");
    const [one, two] = [await accepted(person), await accepted(person)];
    const { session = "" } = await signIn(person);
    for (const { identityId } of [one, two]) await decide(session, identityId, "sign-in");
    const sql = await openSqlClient(servers[0].databaseUrl);
    const many = `
      insert into sessions (customer_id, org_id, member_id, id, client_id, token_gen, user_agent, expire_time, changed_revision)
      select members.customer_id, org_id, members.id, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'flood', token_gen, '',
        now() + interval '1 hour', members.changed_revision
      from members join orgs on orgs.id = org_id, generate_series(1, 5001) n where orgs.name = $1`;
    await sql.query(many, [two.org.split("/")[2]]);
    await sql.close();
    const response = await fetch(`${urlOf(0)}/account`, { headers: { cookie: session } });
    const sections = (await response.text()).split("What can act as ");
    expect(sections.filter((text) => text.includes("this browser")).length).toBe(1);
    expect(sections.filter((text) => text.includes("There are more than these")).length).toBe(1);
    expect(sections.at(-1)).toContain("Only the identity with which you are signed in here stays");
  });

  test("is not preselected for a client", async () => {
    const person = uniqueName("kim");
    const [one, two] = [await accepted(person), await accepted(person)];
    const { session = "" } = await signIn(person);
    for (const { identityId } of [one, two]) await decide(session, identityId, "sign-in");
    const client = { name: uniqueName("app"), redirectUris: ["https://app.example.com/callback"] };
    const { id } = await api.clients.createClient({ parentPath: "/orgs/system", client });
    const request = new URLSearchParams({
      response_type: "code",
      client_id: id,
      redirect_uri: "https://app.example.com/callback",
      code_challenge: "x".repeat(43),
      code_challenge_method: "S256",
    });
    const response = await fetch(`${urlOf(0)}/oauth2/authorize?${request.toString()}`, {
      headers: { cookie: session },
    });
    const text = await response.text();
    expect(text).toContain(one.path);
    expect(text).not.toContain(" checked");
    expect(text).toContain('type="radio"');
  });

  test("is offered to a client of an org whose member is not signed in yet", async () => {
    const person = uniqueName("lea");
    const [one, two] = [await accepted(person), await accepted(person)];
    const { session = "" } = await signIn(person);
    await decide(session, one.identityId, "sign-in");
    const client = { name: uniqueName("app"), redirectUris: ["https://app.example.com/callback"] };
    const { id } = await api.clients.createClient({ parentPath: two.org, client });
    const request = new URLSearchParams({
      response_type: "code",
      client_id: id,
      redirect_uri: "https://app.example.com/callback",
      code_challenge: "x".repeat(43),
      code_challenge_method: "S256",
    });
    const ask = async () => {
      const init = { headers: { cookie: session }, redirect: "manual" } as const;
      const response = await fetch(`${urlOf(0)}/oauth2/authorize?${request.toString()}`, init);
      return [response.status, response.headers.get("location") ?? (await response.text())] as const;
    };
    expect(await ask()).toEqual([303, expect.stringMatching(/^\/sign-in\/choice\?return_to=%2Foauth2%2Fauthorize/)]);
    await decide(session, two.identityId, "sign-in");
    const [status, text] = await ask();
    expect([status, text.includes(two.path), text.includes(one.path)]).toEqual([200, true, false]);
  });
});

describe("an org that holds its lock", () => {
  test("does not hold up the sign-in of its members in other orgs, also in a browser that was signed in there", async () => {
    const person = uniqueName("max");
    const [home, stuck] = [await accepted(person), await accepted(person)];
    const { session: before = "" } = await signIn(person);
    await decide(before, stuck.identityId, "sign-in");
    const held = await holdLock(stuck.org);
    const { session = "" } = await signIn(person, shared, before);
    expect((await decide(session, home.identityId, "sign-in")).status).toBe(303);
    expect([(await askToken(session, home.path)).status, (await askToken(before, stuck.path)).status]).toEqual([
      200, 401,
    ]);
    await held.release();
    await expect.poll(() => countSessions(stuck)).toBe(1);
  });

  test("does not keep the sessions of other orgs from ending when the browser signs out", async () => {
    const person = uniqueName("nia");
    const [home, stuck] = [await accepted(person), await accepted(person)];
    const { session = "" } = await signIn(person);
    for (const { identityId } of [stuck, home]) await decide(session, identityId, "sign-in");
    const token = await tokenOf(session, home.path);
    const held = await holdLock(stuck.org);
    const signingOut = signOut(session);
    await expect.poll(() => statusWith(servers[1], token, home.path)).toBe(401);
    await held.release();
    expect((await signingOut).status).toBe(303);
  });
});

/** Holds the lock of an org, as a write does that takes long. */
async function holdLock(org: string) {
  const client = new pg.Client({ connectionString: servers[0].databaseUrl });
  await client.connect();
  let isOpen = true;
  const release = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await client.query("commit");
    await client.end();
  };
  onTestFinished(release);
  await client.query("begin");
  await client.query("select from orgs where name = $1 for no key update", [org.split("/")[2]]);
  const waiting = "select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))";
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return {
    client,
    release,
    /** Waits until another transaction waits for the lock. */
    waitedFor: () =>
      expect
        .poll(async () => {
          // Otherwise its transaction sees only the sessions that there were when it first looked.
          await client.query("select pg_stat_clear_snapshot()");
          return (await client.query(waiting, [rows[0]?.pid])).rows.length;
        })
        .toBeGreaterThan(0),
  };
}

test("a person with one member that it has accepted is signed in as it without a choice", async () => {
  const person = uniqueName("oli");
  const user = await accepted(person);
  const back = await enter(person, user);
  expect([back.location, (await askToken(back.session ?? "", user.path)).status]).toEqual(["/console/", 200]);
});
