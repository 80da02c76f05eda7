// The session of the console: what a browser that is signed in buys, and who else cannot. On two servers with one database.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { type Api, uniqueName } from "../support/api.ts";
import { openSqlClient } from "../support/sql.ts";
import { startTestServer } from "../support/test-server.ts";
import {
  type SharedTokenServers,
  type TokenMember,
  createTokenMember,
  sharedTokenServers,
  statusWith,
} from "../support/token-servers.ts";
import { callHttp2, openHttp2 } from "../http/http2-client.ts";

let place: SharedTokenServers;
let database: Database;
let api: Api;
let org: { readonly path: string; readonly id: string; readonly name: string; readonly customerPath: string };

beforeAll(async () => {
  place = await sharedTokenServers();
  ({ api } = place);
  const connection = { connectionString: place.servers[0].databaseUrl };
  const onConnectionError = (): void => {};
  database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 2, onConnectionError });
  org = await api.orgs.createOrg({ org: { name: uniqueName("org"), displayName: "Acme" } });
});
afterAll(() => database.close());

interface Session {
  readonly access_token: string;
  readonly expire_time: string;
  readonly member: string;
  readonly members: readonly { readonly member: string }[];
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly session: Session;
  readonly error: { readonly status: string; readonly message: string; readonly sign_in?: string };
}

const usual = { "sec-fetch-site": "same-origin", "content-type": "application/json" };

async function call(
  method: string,
  body: unknown,
  headers: Record<string, string> = {},
  server: 0 | 1 = 0,
): Promise<Answer> {
  const init = {
    method,
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { ...usual, ...headers },
  };
  const response = await fetch(`${place.servers[server].url}/console/session`, init);
  const answer = (await response.json()) as Session & Pick<Answer, "error">;
  return { status: response.status, headers: response.headers, session: answer, error: answer.error };
}

const newMember = (of = org.path): Promise<TokenMember> => createTokenMember(api, of, "owner");

async function signIn(member: TokenMember, of: { readonly id: string } = org): Promise<string> {
  const code = await createSignInLink(database, { orgId: of.id, memberId: member.id });
  const init = { method: "POST", body: new URLSearchParams({ code }), headers: { "sec-fetch-site": "same-origin" } };
  const response = await fetch(`${place.servers[0].url}/sign-in/code`, { ...init, redirect: "manual" });
  return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

/** A browser that is signed in as several members, in the order in which it has chosen them. */
async function signInAs(...members: readonly TokenMember[]): Promise<string> {
  const cookies: string[] = [];
  for (const member of members) cookies.push(await signIn(member));
  const [first] = cookies;
  await database.writes
    .updateTable("sessions")
    .set((update) => ({
      browser_session_id: update
        .selectFrom("sessions as first")
        .select("first.browser_session_id")
        .where("first.org_id", "=", org.id)
        .where("first.member_id", "=", members[0]?.id ?? ""),
    }))
    .where("org_id", "=", org.id)
    .where(
      "member_id",
      "in",
      members.map(({ id }) => id),
    )
    .execute();
  return first ?? "";
}

const statuses = (token: string, { path }: TokenMember) =>
  Promise.all(place.servers.map((server) => statusWith(server, token, path)));

async function tokenOf(cookie: string, member: TokenMember): Promise<string> {
  const { status, session } = await call("POST", { member: member.path }, { cookie });
  expect(status).toBe(200);
  return session.access_token;
}

test("a browser buys a token of ten minutes, with who it is and in which org, that every server accepts", async () => {
  const member = await newMember();
  const cookie = await signIn(member);
  const before = Date.now();
  const { status, headers, session } = await call("POST", {}, { cookie }, 1);
  const own = {
    member: member.path,
    id: member.id,
    display_name: expect.any(String),
    org: { path: org.path, id: org.id, display_name: "Acme", customer: org.customerPath },
  };
  expect({ status, session }).toEqual({
    status: 200,
    session: { access_token: expect.any(String), expire_time: expect.any(String), ...own, members: [own] },
  });
  const life = Date.parse(session.expire_time) - before;
  expect([life > 540_000, life < 660_000]).toEqual([true, true]);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(await statuses(session.access_token, member)).toEqual([200, 200]);
});

test.each([
  ["its path", (member: TokenMember) => member.path],
  ["its path without a slash", (member: TokenMember) => member.path.slice(1)],
  ["the ids of its org and itself", (member: TokenMember) => `/orgs/@${org.id}/members/@${member.id}`],
])("a member is named by %s", async (_how, name) => {
  const member = await newMember();
  const { session } = await call(
    "POST",
    { member: name(member) },
    { cookie: await signInAs(await newMember(), member) },
  );
  expect(session.member).toBe(member.path);
});

test("a browser of several members starts as the one that was chosen last, and goes on as the one used last", async () => {
  const members = [await newMember(), await newMember(), await newMember()] as const;
  const cookie = await signInAs(...members);
  const { session } = await call("POST", {}, { cookie });
  expect(session.member).toBe(members[2].path);
  expect(session.members.map(({ member }) => member)).toEqual(members.map(({ path }) => path).toSorted());
  const { headers } = await call("POST", { member: members[1].path }, { cookie });
  const used = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  expect(used).toMatch(/^__Host-tenantry-member=[0-9a-f-]{36}$/);
  expect((await call("POST", {}, { cookie: `${cookie}; ${used}` })).session.member).toBe(members[1].path);
  // It chooses among the members only: that of another browser says nothing.
  const other = await signIn(members[0]);
  expect((await call("POST", {}, { cookie: `${other}; ${used}` })).session.member).toBe(members[0].path);
});

describe("nothing is sold, and nobody is signed out, by", () => {
  test.each<readonly [string, Record<string, string>, unknown, number]>([
    ["a page of another site", { "sec-fetch-site": "cross-site" }, {}, 403],
    ["a page of another host of the site", { "sec-fetch-site": "same-site" }, {}, 403],
    ["an address bar", { "sec-fetch-site": "none" }, {}, 403],
    ["a client that does not say who asks", { "sec-fetch-site": "" }, {}, 403],
    ["two answers to that", { "sec-fetch-site": "same-origin, cross-site" }, {}, 403],
    ["a form", { "content-type": "text/plain" }, {}, 400],
    ["a form that says what it is", { "content-type": "application/x-www-form-urlencoded" }, "member=", 400],
    ["JSON that is no object", {}, "[]", 400],
    ["no JSON", {}, "{", 400],
    ["an empty body", {}, "", 400],
    ["a member that is no text", {}, { member: { path: "/orgs/acme" } }, 400],
    ["a misspelt field", {}, { Member: "/orgs/acme/members/alice" }, 400],
    ["a body that is too long", {}, { member: "x".repeat(20_000) }, 400],
  ])("%s", async (_who, headers, body, status) => {
    const member = await newMember();
    const cookie = await signIn(member);
    for (const method of ["POST", "DELETE"]) {
      const refused = await call(method, body, { cookie, ...headers });
      expect([refused.status, refused.error.message, refused.headers.get("set-cookie")]).toEqual([
        status,
        expect.any(String),
        null,
      ]);
    }
    expect((await call("POST", {}, { cookie })).status).toBe(200);
  });

  test("a bearer credential without the cookie, which is told where to sign in", async () => {
    const member = await newMember();
    const { status, error } = await call("POST", { member: member.path }, { authorization: `Bearer ${member.key}` });
    expect({ status, error }).toMatchObject({ status: 401, error: { status: "UNAUTHENTICATED", sign_in: "/sign-in" } });
  });

  test("another member, of this tenant or another, whether it exists or not: all are told the same", async () => {
    const [member, other] = [await newMember(), await newMember()];
    const foreign = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
    const stranger = await newMember(foreign.path);
    const cookie = await signIn(member);
    const wanted = [
      other.path,
      stranger.path,
      `${org.path}/members/nobody`,
      `/orgs/@${foreign.id}/members/@${member.id}`,
      "x",
    ];
    for (const path of wanted) {
      const { status, error } = await call("POST", { member: path }, { cookie });
      const message = `this browser is not signed in as ${JSON.stringify(path)}, only as ${member.path}`;
      expect([status, error.message]).toEqual([401, message]);
      expect((await call("DELETE", { member: path }, { cookie })).status).toBe(200);
    }
    expect((await call("POST", {}, { cookie })).status).toBe(200);
  });

  test("another method, which is told the two that there are", async () => {
    const response = await fetch(`${place.servers[0].url}/console/session`, { headers: usual });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, DELETE, OPTIONS"]);
  });
});

describe("at once and on both servers, tokens and the cookie end", () => {
  test.each<readonly [string, (member: TokenMember, cookie: string) => Promise<unknown>]>([
    ["with a sign-out", (_member, cookie) => call("DELETE", {}, { cookie }, 1)],
    ["with a sign-out of the only member", ({ path }, cookie) => call("DELETE", { member: path }, { cookie }, 1)],
    ["with a suspension of the member", ({ path }) => api.members.suspendMember({ path })],
    ["with its deletion", ({ path }) => api.members.deleteMember({ path })],
    ["with the revocation of its tokens", ({ path }) => api.members.revokeTokens({ path })],
  ])("%s", async (_how, end) => {
    const member = await newMember();
    const cookie = await signIn(member);
    const token = await tokenOf(cookie, member);
    await end(member, cookie);
    expect(await statuses(token, member)).toEqual([401, 401]);
    for (const server of [0, 1] as const) {
      expect((await call("POST", {}, { cookie }, server)).error).toMatchObject({ sign_in: "/sign-in" });
    }
  });

  test("and the token ends with the sign-in when that is about to", async () => {
    const member = await newMember();
    const cookie = await signIn(member);
    const expireTime = new Date(Date.now() + 90_000);
    await database.writes
      .updateTable("sessions")
      .set({ expire_time: expireTime })
      .where("org_id", "=", org.id)
      .where("member_id", "=", member.id)
      .execute();
    const { session } = await call("POST", {}, { cookie });
    expect(Date.parse(session.expire_time) <= expireTime.getTime()).toBe(true);
  });
});

test("one of several members signs out alone", async () => {
  const [first, second] = [await newMember(), await newMember()];
  const cookie = await signInAs(first, second);
  const [ended, left] = [await tokenOf(cookie, first), await tokenOf(cookie, second)];
  const { status, headers } = await call("DELETE", { member: first.path }, { cookie }, 1);
  expect([status, headers.get("set-cookie")]).toEqual([200, null]);
  expect([await statuses(ended, first), await statuses(left, second)]).toEqual([
    [401, 401],
    [200, 200],
  ]);
  expect((await call("POST", { member: first.path }, { cookie })).status).toBe(401);
  expect((await call("POST", {}, { cookie })).session.members.map(({ member }) => member)).toEqual([second.path]);
});

test("a sign-out clears the cookies, and can be repeated", async () => {
  const cookie = await signIn(await newMember());
  const { headers } = await call("DELETE", {}, { cookie });
  expect(headers.getSetCookie().map((each) => /^([^=]+)=; .*Max-Age=0$/.exec(each)?.[1])).toEqual([
    "__Host-tenantry",
    "__Host-tenantry-member",
  ]);
  expect([(await call("DELETE", {}, { cookie })).status, (await call("DELETE", {})).status]).toEqual([200, 200]);
});

test("no token that was sold while the browser signed out on another server outlives the sign-out", async () => {
  const member = await newMember();
  const cookie = await signIn(member);
  const holder = await openSqlClient(place.servers[0].databaseUrl);
  onTestFinished(() => holder.close());
  await holder.query("begin");
  await holder.query("select from orgs where id = $1 for no key update", [org.id]);
  // The sign-out has taken the cookie away, and waits for the lock of the org, in which the session still is.
  const signedOut = call("DELETE", {}, { cookie });
  const sold: Answer[] = [];
  await expect
    .poll(async () => {
      const answer = await call("POST", {}, { cookie }, 1);
      sold.push(answer);
      return answer.status;
    })
    .toBe(401);
  const tokens = sold.filter(({ status }) => status === 200).map(({ session }) => session.access_token);
  await holder.query("commit");
  expect((await signedOut).status).toBe(200);
  for (const token of tokens) expect(await statuses(token, member)).toEqual([401, 401]);
});

test("16 sign-outs and purchases at once, on two servers, leave no token that works", async () => {
  const member = await newMember();
  const cookie = await signIn(member);
  const all = Array.from({ length: 16 }, (_, at) =>
    call(at % 4 === 3 ? "DELETE" : "POST", {}, { cookie }, at % 2 ? 1 : 0),
  );
  const answers = await Promise.all(all);
  expect(answers.filter(({ status }) => ![200, 401].includes(status))).toEqual([]);
  for (const { session } of answers) {
    if (session.access_token !== undefined) expect(await statuses(session.access_token, member)).toEqual([401, 401]);
  }
});

test("the access log says who bought a token, and never which", async () => {
  const member = await newMember();
  const cookie = await signIn(member);
  const [server] = place.servers;
  const before = server.logLines.length;
  const { session, headers } = await call("POST", {}, { cookie });
  const id = headers.get("x-request-id") ?? "";
  await expect.poll(() => server.logLines.slice(before).some((line) => line.includes(id))).toBe(true);
  const lines = server.logLines.slice(before);
  expect(lines.find((line) => line.includes(id))).toContain(`"caller":"/orgs/@${org.id}/members/@${member.id}"`);
  for (const secret of [session.access_token, cookie.split("=")[1] ?? ""]) {
    expect(lines.join("")).not.toContain(secret.slice(32));
  }
});

test("sign-outs are anonymous requests, with a cookie that nothing stands for and with none", async () => {
  const slow = await startTestServer({ anonymousPerAddress: 1 });
  onTestFinished(() => slow.close());
  const handle = (await signIn(await newMember())).replace(/.{8}$/, "AAAAAAAA");
  const signOut = async (_: unknown, at: number): Promise<number> => {
    const headers = at % 2 === 0 ? usual : { ...usual, cookie: handle };
    return (await fetch(`${slow.url}/console/session`, { method: "DELETE", body: "{}", headers })).status;
  };
  // More than the burst of an address and what may wait.
  expect(await Promise.all(Array.from({ length: 200 }, signOut))).toContain(429);
});

test("answers the same over HTTP/2", async () => {
  const member = await newMember();
  const session = await openHttp2(place.servers[1].url);
  onTestFinished(() => session.close());
  const head = { ":method": "POST", ":path": "/console/session", ...usual, cookie: await signIn(member) };
  const bought = await callHttp2(session, head, "{}");
  const sold = { access_token: expect.any(String), member: member.path };
  expect([bought.status, JSON.parse(bought.body)]).toEqual([200, expect.objectContaining(sold)]);
  // Without a body, which is no JSON.
  const { status, body } = await callHttp2(session, head);
  expect([status, JSON.parse(body)]).toEqual([400, { error: expect.objectContaining({ status: "INVALID_ARGUMENT" }) }]);
});
