// Sign-in with a browser: the cookie, and the attacks that cookies invite. On two servers with one database.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import { services, standardServices } from "../../src/rpc/services.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { readReturnPath } from "../../src/sign-in/browser/return-path.ts";
import { createSecretHandle, parseSecretHandle } from "../../src/identity/secret-handle.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import {
  type TokenMember,
  type SharedTokenServers,
  createTokenMember,
  sharedTokenServers,
  statusWith,
} from "../support/token-servers.ts";
import { makePrivateFolder, runTenantry, serveTenantry } from "../support/command.ts";
import { openSqlClient } from "../support/sql.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { startTestServer } from "../support/test-server.ts";

let place: SharedTokenServers;
let database: Database;
let api: Api;
let org: { readonly path: string; readonly id: string };

beforeAll(async () => {
  place = await sharedTokenServers();
  ({ api } = place);
  const connection = { connectionString: place.servers[0].databaseUrl };
  const onConnectionError = (): void => {};
  database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 2, onConnectionError });
  org = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
});
afterAll(async () => {
  await database.close();
});

const restPathOf = (method: DescMethod): string => {
  const { value } = getOption(method, http).pattern;
  return typeof value === "string" ? value : "";
};
const newMember = (): Promise<TokenMember> => createTokenMember(api, org.path, "owner");
const newCode = (member: TokenMember): Promise<string> =>
  createSignInLink(database, { orgId: org.id, memberId: member.id });

const ofPage = { "sec-fetch-site": "same-origin" };
const json = { "content-type": "application/json" };

function post(path: string, body: string | URLSearchParams, headers: Record<string, string> = {}, server = 0) {
  const { url } = place.servers[server] ?? place.servers[0];
  return fetch(`${url}${path}`, { method: "POST", body, headers: { ...ofPage, ...headers }, redirect: "manual" });
}

async function signIn(member: TokenMember, headers: Record<string, string> = {}): Promise<string> {
  const response = await post("/sign-in/code", new URLSearchParams({ code: await newCode(member) }), headers);
  expect(response.status).toBe(303);
  return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

function askToken(cookie: string, { path }: TokenMember, headers: Record<string, string> = {}, server = 0) {
  return post("/console/session", JSON.stringify({ member: path }), { ...json, cookie, ...headers }, server);
}

async function tokenOf(cookie: string, member: TokenMember): Promise<string> {
  const response = await askToken(cookie, member);
  expect(response.status).toBe(200);
  return ((await response.json()) as { access_token: string }).access_token;
}

const statusOn = (server: 0 | 1, token: string, { path }: TokenMember) =>
  statusWith(place.servers[server], token, path);

describe("a code", () => {
  test("signs a browser in, whose cookie buys a token of ten minutes on every server", async () => {
    const member = await newMember();
    const response = await post("/sign-in/code", new URLSearchParams({ code: await newCode(member) }));
    expect(response.headers.get("location")).toBe("/console/");
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^__Host-tenantry=[\w-]{75}; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
    const answer = await askToken(cookie.split(";")[0] ?? "", member, {}, 1);
    const body = (await answer.json()) as { access_token: string };
    expect(body).toMatchObject({ access_token: expect.any(String), member: member.path });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect([await statusOn(0, body.access_token, member), await statusOn(1, body.access_token, member)]).toEqual([
      200, 200,
    ]);
  });

  test("works once, also for 16 requests at once on two servers", async () => {
    const code = await newCode(await newMember());
    const all = Array.from({ length: 16 }, (_, at) => post("/sign-in/code", new URLSearchParams({ code }), {}, at % 2));
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(15);
  });

  test("says the customer of its row, and leads to none without it", async () => {
    const [member, row] = [await newMember(), parseSecretHandle(await newCode(await newMember()))];
    const { rows } = await sql`select customer_id from sign_in_links where id = ${row?.id}`.execute(database.reads);
    expect(rows).toEqual([{ customer_id: row?.customerId }]);
    const { id, text, hash } = createSecretHandle();
    const made = parseSecretHandle(await newCode(member));
    await sql`update sign_in_links set id = ${id}, hash = ${hash} where id = ${made?.id}`.execute(database.writes);
    expect((await post("/sign-in/code", new URLSearchParams({ code: text }))).status).toBe(400);
  });

  test("is refused after an hour, if one character differs, and for a suspended member", async () => {
    const member = await newMember();
    const old = await newCode(member);
    await database.writes
      .updateTable("sign_in_links")
      .set({ expire_time: new Date() } as never)
      .execute();
    const other = (await newCode(member)).replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    const late = await newCode(member);
    await api.members.suspendMember({ path: member.path });
    for (const code of [old, other, late, "", "x".repeat(75)]) {
      const response = await post("/sign-in/code", new URLSearchParams({ code }));
      expect([response.status, response.headers.get("set-cookie")]).toEqual([400, null]);
    }
  });

  test.each<readonly [string, (path: string, id: string) => Promise<unknown>]>([
    ["all tokens of its member were revoked", (path) => api.members.revokeTokens({ path })],
    [
      "its member was suspended for a while",
      async (path) => {
        await api.members.suspendMember({ path });
        await api.members.activateMember({ path });
      },
    ],
    [
      "its member was deleted and restored",
      async (path, id) => {
        await api.members.deleteMember({ path });
        await api.members.undeleteMember({ path: path.replace(/[^/]+$/, `@${id}`) });
      },
    ],
  ])("is refused after %s", async (_when, end) => {
    const [member, other] = [await newMember(), await newMember()];
    const [code, ofOther] = [await newCode(member), await newCode(other)];
    await end(member.path, member.id);
    const redeem = async (text: string): Promise<number> =>
      (await post("/sign-in/code", new URLSearchParams({ code: text }))).status;
    expect([await redeem(code), await redeem(ofOther), await redeem(await newCode(member))]).toEqual([400, 303, 303]);
  });

  test("leaves no session if all tokens of its member are revoked while its browser waits for the end of another sign-in", async () => {
    const other = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
    const [member, before] = [await newMember(), await createTokenMember(api, other.path, "owner")];
    const own = await createSignInLink(database, { orgId: other.id, memberId: before.id });
    const headers = (await post("/sign-in/code", new URLSearchParams({ code: own }))).headers;
    const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const code = await newCode(member);
    const holder = await openSqlClient(place.servers[0].databaseUrl);
    onTestFinished(() => holder.close());
    await holder.query("begin");
    await holder.query("select from orgs where id = $1 for no key update", [other.id]);
    const signingIn = post("/sign-in/code", new URLSearchParams({ code }), { cookie });
    const isUsed = async (): Promise<boolean> =>
      (await holder.query("select from sign_in_links where member_id = $1", [member.id])).length === 0;
    await expect.poll(isUsed).toBe(true);
    await api.members.revokeTokens({ path: member.path });
    const response = await signingIn;
    await holder.query("commit");
    const given = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    expect((await askToken(given, member)).status).toBe(401);
    expect((await api.sessions.listSessions({ parentPath: member.path })).sessions).toEqual([]);
  });

  test("and the cookie reach no log, no change and no table", async () => {
    const member = await newMember();
    const code = await newCode(member);
    const response = await post("/sign-in/code", new URLSearchParams({ code }));
    const cookie = /=([\w-]+);/.exec(response.headers.get("set-cookie") ?? "")?.[1] ?? "";
    const token = await tokenOf(`__Host-tenantry=${cookie}`, member);
    await post("/sign-in/code", new URLSearchParams({ code }));
    const dump = sql<{ xml: string }>`select database_to_xml(true, false, '')::text as xml`;
    const { rows } = await dump.execute(database.reads);
    const everything = `${place.servers.map(({ logLines }) => logLines.join("")).join("")}${rows[0]?.xml}`;
    for (const secret of [code, cookie, token]) expect(everything.includes(secret.slice(32))).toBe(false);
  });
});

describe("the cookie", () => {
  test("is no credential of the API", async () => {
    const member = await newMember();
    const cookie = await signIn(member);
    const response = await fetch(`${place.servers[0].url}/iam/v1alpha${member.path}`, {
      headers: { cookie, ...ofPage },
    });
    expect(response.status).toBe(401);
    const oauth = await post("/oauth2/token", new URLSearchParams({ grant_type: "client_credentials" }), { cookie });
    expect(oauth.status).toBe(401);
  });

  test.each([
    ["another site", { "sec-fetch-site": "cross-site" }, 403],
    ["another host of its site", { "sec-fetch-site": "same-site" }, 403],
    ["an address bar", { "sec-fetch-site": "none" }, 403],
    ["a program", { "sec-fetch-site": "" }, 403],
    ["a form", { "content-type": "text/plain" }, 400],
  ])("buys nothing for %s", async (_from, headers, status) => {
    const member = await newMember();
    const cookie = await signIn(member);
    expect((await askToken(cookie, member, headers)).status).toBe(status);
    expect((await askToken(cookie, member)).status).toBe(200);
  });

  test("buys nothing for another member, and nothing if two are sent", async () => {
    const [member, other] = [await newMember(), await newMember()];
    const [cookie, second] = [await signIn(member), await signIn(other)];
    expect((await askToken(cookie, other)).status).toBe(401);
    expect((await askToken(`${cookie}; ${second}`, member)).status).toBe(401);
  });

  test("is not one whose name follows a space that only JavaScript trims, which another host of the site can set", async () => {
    const member = await newMember();
    const cookie = await signIn(member);
    expect((await askToken(`a=b; \u00a0${cookie}`, member)).status).toBe(401);
    expect((await askToken(`${cookie}; \u00a0${cookie.replace(/=.*/, "=x")}`, member)).status).toBe(200);
  });

  test("that the browser had before its sign-in is never the one after it, and has ended", async () => {
    const [attacker, victim] = [await newMember(), await newMember()];
    const fixed = await signIn(attacker);
    const token = await tokenOf(fixed, attacker);
    const cookie = await signIn(victim, { cookie: fixed });
    expect(cookie).not.toBe(fixed);
    expect((await askToken(fixed, attacker)).status).toBe(401);
    expect(await statusOn(1, token, attacker)).toBe(401);
  });

  test.each([
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["a form without Sec-Fetch-Site", { "sec-fetch-site": "" }],
  ])("cannot be set or cleared by %s", async (_from, headers) => {
    const member = await newMember();
    const code = await newCode(member);
    const response = await post("/sign-in/code", new URLSearchParams({ code }), headers);
    expect([response.status, response.headers.get("set-cookie")]).toEqual([400, null]);
    expect((await post("/sign-out", new URLSearchParams(), headers)).headers.get("set-cookie")).toBeNull();
  });
});

test("an API key that a person makes with a token of the sign-in outlives it", async () => {
  const member = await newMember();
  const own = createApi("gRPC", place.servers[0].url, await tokenOf(await signIn(member), member));
  const created = await own.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: uniqueName("own") } });
  expect(created.expireTime).toBeUndefined();
});

test("a token of a sign-in names its session to those who ask who they are", async () => {
  const member = await newMember();
  const token = await tokenOf(await signIn(member), member);
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${place.servers[1].url}/iam/v1alpha/me`, { headers });
  expect(await response.json()).toMatchObject({
    member: { path: member.path },
    credential: { session_path: expect.stringContaining(`${member.path}/sessions/@`), client_id: "browser" },
  });
});

describe("a sign-in and its tokens end on both servers", () => {
  const sessionOf = async ({ path }: TokenMember): Promise<string> => {
    const { url, operatorKey } = place.servers[0];
    const headers = { authorization: `Bearer ${operatorKey}` };
    const response = await fetch(`${url}/iam/v1alpha${path}/sessions`, { headers });
    const { sessions } = (await response.json()) as { sessions: { path: string; client_id: string }[] };
    expect(sessions.map((session) => session.client_id)).toEqual(["browser"]);
    return sessions[0]?.path ?? "";
  };
  test.each<readonly [string, (member: TokenMember, cookie: string) => Promise<unknown>]>([
    ["when the browser signs out", (_member, cookie) => post("/sign-out", new URLSearchParams(), { cookie })],
    ["when its member is suspended", ({ path }) => api.members.suspendMember({ path })],
    ["when its member is deleted", ({ path }) => api.members.deleteMember({ path })],
    ["when all tokens are revoked", ({ path }) => api.members.revokeTokens({ path })],
    [
      "when its Session is deleted",
      async (member) => {
        const { url, operatorKey } = place.servers[0];
        const headers = { authorization: `Bearer ${operatorKey}` };
        await fetch(`${url}/iam/v1alpha${await sessionOf(member)}`, { method: "DELETE", headers });
      },
    ],
  ])("%s", async (_when, end) => {
    const member = await newMember();
    const cookie = await signIn(member);
    const token = await tokenOf(cookie, member);
    expect([await statusOn(0, token, member), await statusOn(1, token, member)]).toEqual([200, 200]);
    await end(member, cookie);
    expect([await statusOn(0, token, member), await statusOn(1, token, member)]).toEqual([401, 401]);
    expect((await askToken(cookie, member, {}, 1)).status).toBe(401);
  });

  test("and do not come back with the org, if the browser signed out while it was deleted", async () => {
    const { customerPath } = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
    const gone = await api.orgs.createOrg({ org: { name: uniqueName("org"), customerPath } });
    const member = await createTokenMember(api, gone.path, "owner");
    const code = await createSignInLink(database, { orgId: gone.id, memberId: member.id });
    const signedIn = await post("/sign-in/code", new URLSearchParams({ code }));
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const token = await tokenOf(cookie, member);
    await api.orgs.deleteOrg({ path: gone.path });
    expect((await post("/sign-out", new URLSearchParams(), { cookie })).status).toBe(303);
    await api.orgs.undeleteOrg({ path: `/orgs/@${gone.id}` });
    expect((await askToken(cookie, member)).status).toBe(401);
    expect([await statusOn(0, token, member), await statusOn(1, token, member)]).toEqual([401, 401]);
  });

  test("and do not come back with the member", async () => {
    const member = await newMember();
    const cookie = await signIn(member);
    await api.members.suspendMember({ path: member.path });
    await api.members.activateMember({ path: member.path });
    expect((await askToken(cookie, member)).status).toBe(401);
  });
});

describe("where the browser goes after the sign-in", () => {
  test.each([
    ["/account", "/account"],
    ["/oauth2/authorize?client_id=a&state=b%26c", "/oauth2/authorize?client_id=a&state=b%26c"],
    ["/a/../account", "/account"],
    ["//example.com", undefined],
    ["/\\example.com", undefined],
    ["/.//example.com", undefined],
    ["/x/..//example.com", undefined],
    ["/\t/example.com", undefined],
    ["https://example.com/", undefined],
    ["javascript:alert(1)", undefined],
    ["account", undefined],
    ["", undefined],
  ])("%j leads to %j", (text, path) => {
    expect(readReturnPath(text)).toBe(path);
  });

  test("a path of more than 2600 characters leads nowhere, however it is written", () => {
    expect([readReturnPath(`/${"a".repeat(2_599)}`)?.length, readReturnPath(`/${"a".repeat(2_600)}`)]).toEqual([
      2_600,
      undefined,
    ]);
    // It is written with three characters.
    expect(readReturnPath(`/?${"'".repeat(900)}`)).toBe(undefined);
  });

  test("a client whose request is too long is told so", async () => {
    const path = `/sign-in?return_to=${encodeURIComponent(`/oauth2/authorize?state=${"a".repeat(2_600)}`)}`;
    const response = await fetch(`${place.servers[0].url}${path}`);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("at most 2600 characters")]);
  });

  test("another host uses no code up", async () => {
    const code = await newCode(await newMember());
    const away = await post("/sign-in/code", new URLSearchParams({ code, return_to: "//example.com" }));
    expect([away.status, away.headers.get("location")]).toEqual([400, null]);
    const back = await post("/sign-in/code", new URLSearchParams({ code, return_to: "/oauth2/authorize?a=b" }));
    expect(back.headers.get("location")).toBe("/oauth2/authorize?a=b");
  });

  test("a mistyped code does not lose it", async () => {
    const refused = await post("/sign-in/code", new URLSearchParams({ code: "x", return_to: "/oauth2/authorize?a=b" }));
    expect(refused.status).toBe(400);
    const text = await refused.text();
    expect(text).toContain("the code is not valid");
    expect(text).not.toContain("Other ways to sign in");
    expect(text).toContain('name="return_to" value="/oauth2/authorize?a=b"');
  });

  test("the page says that nobody can sign in with a provider, and links to the others only where they are not known", async () => {
    // Providers of the installation are offered in each org, and other tests have some on the shared servers.
    const { url, close } = await startTestServer();
    onTestFinished(close);
    const offered = await (await fetch(`${url}/sign-in?org=acme`)).text();
    expect(offered).toContain("No identity provider");
    expect(offered).not.toContain("Other ways to sign in");
    const body = new URLSearchParams({ code: "x", return_to: "//example.com" });
    const unknown = await (await fetch(`${url}/sign-in/code`, { method: "POST", body, headers: ofPage })).text();
    expect(unknown).not.toContain("No identity provider");
    expect(unknown).toContain("Other ways to sign in");
  });

  test("the page escapes it", async () => {
    const path = `/sign-in?return_to=${encodeURIComponent(`/"><script>alert(1)</script>`)}`;
    const text = await (await fetch(`${place.servers[0].url}${path}`)).text();
    expect(text).not.toContain("<script>");
  });
});

describe("open paths:", () => {
  const root = join(import.meta.dirname, "../..");
  const table = readFileSync(join(root, "docs/open-paths.md"), "utf8").split("\n");
  const documented = table.flatMap((line) => (/^\| `.*?\|/.exec(line)?.[0] ?? "").match(/(?<=`)\/[^`]*/g) ?? []);

  test("the paths that answer without a token are those of docs/open-paths.md", () => {
    const sources = ["src/http", "src/console", "src/sign-in", "src/authzen"].flatMap((room) => {
      const files = readdirSync(join(root, room), { recursive: true, encoding: "utf8" });
      return files.filter((file) => file.endsWith(".ts")).map((file) => join(room, file));
    });
    const literals = [...sources, "src/request-handler.ts"].flatMap(
      (file) => readFileSync(join(root, file), "utf8").match(/(?<=")\/[a-z.][\w./:-]*(?=")/g) ?? [],
    );
    const open = [...services, ...standardServices].flatMap((service) =>
      service.methods.flatMap((method) => {
        const isOpen = getOption(method, authorization).unauthenticated;
        return isOpen ? [`/${service.typeName}/${method.name}`, restPathOf(method)] : [];
      }),
    );
    const withinOthers = /^\/docs\/|^\/access\/v1\//;
    const found = new Set([...literals, ...open].filter((path) => !withinOthers.test(path)));
    const listed = documented.filter((path) => path !== "/" && !path.endsWith("*"));
    expect([...found].toSorted()).toEqual(listed.toSorted());
  });

  test("and each of them does", async () => {
    const { url } = place.servers[0];
    const bodies = documented
      .filter((path) => !path.endsWith("*"))
      .map(async (path) => {
        const isPost =
          /^\/(oauth2(?!\/authorize$)|iam)|(account\/end|console\/session|sign-(in\/(code|start|contact\/confirmation|invitation\/decision)|out))$/.test(
            path,
          );
        const response = await fetch(`${url}${path}`, isPost ? { method: "POST", headers: json, body: "{}" } : {});
        const text = await response.text();
        return [path, !response.ok && (/TOKEN_MISSING/.test(text) || [404, 405].includes(response.status))] as const;
      });
    expect((await Promise.all(bodies)).filter(([, isClosed]) => isClosed)).toEqual([]);
  });
});

test("the first start writes a link that only its owner can read, to no log, and the command makes another", async () => {
  const { folder, remove } = await makePrivateFolder(undefined);
  onTestFinished(remove);
  const own = await createTestDatabase();
  onTestFinished(() => own.drop());
  const options = { cwd: folder, env: { DATABASE_URL: own.url } };
  const served = await serveTenantry(options);
  onTestFinished(() => served.signal("SIGTERM").then(() => {}));
  const file = join(folder, "data/sign-in-link");
  const redeem = async (link: string): Promise<number> => {
    const body = new URLSearchParams({ code: link.trim().split("#")[1] ?? "" });
    const response = await fetch(`${served.url}/sign-in/code`, {
      method: "POST",
      body,
      headers: ofPage,
      redirect: "manual",
    });
    return response.status;
  };
  await expect.poll(() => existsSync(file)).toBe(true);
  const first = readFileSync(file, "utf8");
  expect(first).toMatch(/^http:\/\/localhost:\d+\/sign-in#[\w-]{75}\n$/);
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  const finished = await runTenantry(["sign-in-link"], options);
  const second = readFileSync(file, "utf8");
  expect([await redeem(first), await redeem(first), await redeem(second)]).toEqual([303, 400, 303]);
  const written = `${served.output.stdout}${served.output.stderr}${finished.stdout}${finished.stderr}`;
  for (const link of [first, second]) expect(written).not.toContain(link.trim().split("#")[1]);
});
