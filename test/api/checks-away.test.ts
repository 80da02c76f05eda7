// Tests a server that answers checks while it cannot reach its database, beside one that reaches it.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CheckAccessRequestSchema } from "../../gen/iam/v1alpha/access_pb.ts";
import { scrape } from "../metrics/scrape.ts";
import {
  type AccessPlace,
  createAccessClient,
  createAccessPlace,
  startInstance as permission,
} from "../support/access-place.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SilentProxy, startSilentProxy } from "../support/silent-proxy.ts";
import { openSqlClient } from "../support/sql.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";
import { type TokenMember, createTokenMember, exchangeKey } from "../support/token-servers.ts";
import { overFirst } from "../support/transports.ts";

/** A server that always reaches the database, and one that does through a proxy. */
let server: TestServer;
let proxy: SilentProxy;
let away: TestServer;

const hourMs = 3_600_000;
const hour = { maxStaleness: durationFromMs(hourMs) };

beforeAll(async () => {
  server = await startTestServer({ issuer });
  proxy = await startSilentProxy(server.databaseUrl);
  away = await startTestServer({ issuer, databaseUrl: proxy.url, staleChecksMs: hourMs, metricsPort: 0 });
});
afterAll(async () => {
  await away.close();
  proxy.close();
  await server.close();
});

/** Lets the server reach the database again, and waits until it has. */
async function mend(): Promise<void> {
  proxy.mend();
  await expect.poll(() => fetch(`${away.url}/readyz`).then((response) => response.text())).toBe('{"status":"ok"}');
}
let isCut = false;
const cut = (): void => {
  isCut = true;
  proxy.cut();
};
afterEach(async () => {
  if (isCut) await mend();
  isCut = false;
});

type Question = MessageInitShape<typeof CheckAccessRequestSchema>;

/** A check with the credential on the server that is cut off. */
const ask = (credential: string, question: Question) =>
  createAccessClient("Connect", away.url, credential).checkAccess(question);

const unavailable = { code: "Unavailable", reason: "SERVICE_UNAVAILABLE" };

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  test("checks are answered as they were last known, if they may be that old, and say since when", async () => {
    const { alice, bob, web, org, grant } = await createAccessPlace("Connect", server.url, server.operatorKey);
    await grant(web, alice, "/roles/admin");
    const access = createAccessClient(protocol, away.url, server.operatorKey);
    const [ofAlice, ofBob] = [alice, bob].map((subjectPath) => ({ subjectPath, permission, resourcePath: web }));
    const exact = await access.checkAccess({ ...ofAlice, ...hour });
    expect({ allowed: exact.allowed, staleSince: exact.staleSince }).toEqual({ allowed: true, staleSince: undefined });
    const sql = await openSqlClient(server.databaseUrl);
    const [row] = await sql.query("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now");
    await sql.close();
    cut();
    const { allowed, revision, staleSince } = await access.checkAccess({ ...ofAlice, ...hour });
    expect({ allowed, revision }).toEqual({ allowed: true, revision: exact.revision });
    // By the same clock: the call before has read it earlier.
    expect(staleSince && timestampMs(staleSince)).toBeLessThanOrEqual(Number(row?.["now"]));
    const { results } = await access.batchCheckAccess({
      checks: [
        { ...ofBob, ...hour },
        { ...ofAlice, ...hour, revision },
      ],
    });
    expect(results.map((result) => result.allowed)).toEqual([false, true]);
    expect(results.map((result) => result.staleSince)).toEqual([staleSince, staleSince]);
    const failing = [
      access.checkAccess({ ...ofAlice }),
      access.checkAccess({ ...ofAlice, maxStaleness: durationFromMs(1) }),
      access.batchCheckAccess({ checks: [{ ...ofAlice, ...hour }, { ...ofAlice }] }),
      access.listSubjects({ permission, resourcePath: web, maxStaleness: durationFromMs(60_000) }),
      access.listResources({ ...ofAlice, parentPath: org.path, maxStaleness: durationFromMs(60_000) }),
      access.explainAccess({ ...ofAlice }),
      access.testPermissions({ resourcePath: web, permissions: [permission] }),
    ];
    expect(await Promise.all(failing.map(failureOf))).toMatchObject(failing.map(() => unavailable));
  });
});

describe("what is revoked", () => {
  let place: AccessPlace;
  let question: Question;
  let binding: string;
  beforeEach(async () => {
    place = await createAccessPlace("Connect", server.url, server.operatorKey);
    binding = await place.grant(place.web, place.alice, "/roles/admin");
    question = { subjectPath: place.alice, permission, resourcePath: place.web };
    expect(await ask(server.operatorKey, question)).toMatchObject({ allowed: true });
  });
  const revoke = () => place.api.roleBindings.deleteRoleBinding({ path: binding });

  test("on another server, before this one has last read the org, is denied", async () => {
    await revoke();
    expect(await ask(server.operatorKey, question)).toMatchObject({ allowed: false });
    cut();
    expect(await ask(server.operatorKey, { ...question, ...hour })).toMatchObject({ allowed: false });
  });

  test("later, is unknown until the database is back, and counts from then on", async () => {
    cut();
    await revoke();
    const { revision } = await place.access.checkAccess(question);
    const stale = await ask(server.operatorKey, { ...question, ...hour });
    expect(stale).toMatchObject({ allowed: true, staleSince: expect.anything() as unknown });
    const bounded = ask(server.operatorKey, { ...question, ...hour, revision });
    expect(await failureOf(bounded)).toMatchObject(unavailable);
    await mend();
    isCut = false;
    const exact = await ask(server.operatorKey, { ...question, maxStaleness: durationFromMs(0) });
    expect(exact).toMatchObject({ allowed: false, revision });
    expect(exact.staleSince).toBeUndefined();
  });

  test("by time, is denied when its time has come", async () => {
    const expireTime = timestampFromMs(Date.now() + 12_000);
    await place.grant(place.web, place.bob, "/roles/admin", { expireTime });
    const ofBob = { ...question, subjectPath: place.bob };
    await ask(server.operatorKey, ofBob);
    cut();
    await expect.poll(async () => (await ask(server.operatorKey, { ...ofBob, ...hour })).allowed).toBe(false);
    expect(await ask(server.operatorKey, { ...question, ...hour })).toMatchObject({ allowed: true });
  });
});

describe("a caller", () => {
  let org: string;
  let api: Api;
  let member: TokenMember;
  let question: Question & typeof hour;
  beforeEach(async () => {
    api = createApi("Connect", server.url, server.operatorKey);
    org = (await api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
    member = await createTokenMember(api, org, "owner");
    question = { subjectPath: member.path, permission: "iam.orgs.get", resourcePath: org, ...hour };
  });
  const answered = { allowed: true, staleSince: expect.anything() as unknown };

  test("is known by an API key that the server has accepted, and by a token", async () => {
    const token = await exchangeKey(server, member.key);
    expect(await ask(member.key, question)).toMatchObject({ allowed: true });
    cut();
    for (const credential of [member.key, token]) expect(await ask(credential, question)).toMatchObject(answered);
    const invalid = member.key.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    expect(await failureOf(ask(invalid, question))).toMatchObject({ code: "Unauthenticated" });
  });

  test("is not known by a key that the server has not accepted, a limited one, or a token of another member that it acts for", async () => {
    const { secret: unused = "" } = await api.apiKeys.createApiKey({
      parentPath: member.path,
      apiKey: { name: "unused" },
    });
    const person = await api.members.createMember({ parentPath: org, member: { name: uniqueName("person") } });
    await api.roleBindings.createRoleBinding({
      parentPath: org,
      roleBinding: { name: uniqueName("binding"), subjectPath: person.path, rolePath: "/roles/admin" },
    });
    const admin = await createTokenMember(api, org, "admin");
    const key = await createApi("Connect", server.url, admin.key).apiKeys.createApiKey({
      parentPath: person.path,
      apiKey: { name: "limited" },
    });
    expect(key.limited).toBe(true);
    const { secret: limited = "" } = key;
    const other = await createTokenMember(api, org, "owner");
    const ofMember = createApi("Connect", server.url, member.key);
    const { accessToken: acting } = await ofMember.members.impersonateMember({ path: other.path });
    for (const credential of [limited, acting, member.key]) await ask(credential, question);
    cut();
    expect(await ask(member.key, question)).toMatchObject(answered);
    for (const [name, credential] of Object.entries({ unused, limited, acting }))
      expect([name, await failureOf(ask(credential, question))]).toMatchObject([name, unavailable]);
  });

  test("is not known any more once the server has read that its key, its token or its member has ended", async () => {
    const [suspended, revoked] = [
      await createTokenMember(api, org, "owner"),
      await createTokenMember(api, org, "owner"),
    ];
    const token = await exchangeKey(server, member.key);
    for (const credential of [suspended.key, revoked.key, member.key, token]) await ask(credential, question);
    await api.members.suspendMember({ path: suspended.path });
    await api.apiKeys.deleteApiKey({ path: revoked.keyPath });
    await exchangeKey(server, member.key);
    const { status } = await fetch(`${server.url}/oauth2/revoke`, {
      method: "POST",
      body: new URLSearchParams({ token, client_secret: member.key }),
    });
    expect(status).toBe(200);
    await ask(member.key, question);
    cut();
    expect(await ask(member.key, question)).toMatchObject(answered);
    for (const credential of [suspended.key, revoked.key, token])
      expect(await failureOf(ask(credential, question))).toMatchObject(unavailable);
  });

  test("is not refused by memory, which does not know what was granted meanwhile", async () => {
    const person = await api.members.createMember({ parentPath: org, member: { name: uniqueName("person") } });
    const apiKey = { name: "new" };
    const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: person.path, apiKey });
    const access = createAccessClient("Connect", away.url, secret);
    const check = () => [access.checkAccess(question), access.batchCheckAccess({ checks: [question] })];
    const failures = async () => Promise.all(check().map(failureOf));
    await ask(member.key, question);
    expect(await failures()).toMatchObject([{ code: "PermissionDenied" }, { code: "PermissionDenied" }]);
    cut();
    expect(await ask(member.key, question)).toMatchObject(answered);
    await api.roleBindings.createRoleBinding({
      parentPath: org,
      roleBinding: { name: uniqueName("binding"), subjectPath: person.path, rolePath: "/roles/owner" },
    });
    expect(await failures()).toMatchObject([unavailable, unavailable]);
    // An answer is no refusal of the call.
    const denied = { ...question, subjectPath: `${org}/members/nobody` };
    expect(await ask(member.key, denied)).toMatchObject({ ...answered, allowed: false });
    await mend();
    isCut = false;
    expect(await Promise.all(check())).toMatchObject([{ allowed: true }, { results: [{ allowed: true }] }]);
  });

  test("does not learn about another Org", async () => {
    const other = await createAccessPlace("Connect", server.url, server.operatorKey);
    const ofOther = { subjectPath: other.alice, permission, resourcePath: other.web, ...hour };
    await ask(server.operatorKey, ofOther);
    await ask(member.key, question);
    cut();
    expect(await ask(server.operatorKey, ofOther)).toMatchObject({ staleSince: answered.staleSince });
    expect(await failureOf(ask(member.key, ofOther))).toMatchObject(unavailable);
  });
});

test("what this server cannot know, because it has not read the Org, is not answered", async () => {
  const place = await createAccessPlace("Connect", server.url, server.operatorKey);
  const question = { subjectPath: place.alice, permission, resourcePath: place.web, ...hour };
  const elsewhere = await createAccessPlace("Connect", server.url, server.operatorKey);
  await ask(server.operatorKey, { ...question, subjectPath: elsewhere.alice, resourcePath: elsewhere.web });
  cut();
  expect(await failureOf(ask(server.operatorKey, question))).toMatchObject(unavailable);
});

test("readiness, metrics and the log say that checks are answered without the database", async () => {
  const place = await createAccessPlace("Connect", server.url, server.operatorKey);
  const question = { subjectPath: place.alice, permission, resourcePath: place.web, ...hour };
  await ask(server.operatorKey, question);
  const valueOf = async (name: string) => (await scrape(away.metricsUrl)).valueOf(name) ?? Number.NaN;
  const calls = await valueOf("tenantry_stale_calls_total");
  expect(await valueOf("tenantry_database_away_seconds")).toBe(0);
  const lines = away.logLines.length;
  cut();
  await ask(server.operatorKey, question);
  await failureOf(ask(server.operatorKey, { ...question, maxStaleness: durationFromMs(0) }));
  expect(await valueOf("tenantry_stale_calls_total")).toBe(calls + 1);
  expect(await valueOf("tenantry_database_away_seconds")).toBeGreaterThan(0);
  const ready = await fetch(`${away.url}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ status: "stale", stale_since: expect.stringMatching(/^\d{4}-/) as unknown });
  await mend();
  isCut = false;
  expect(await valueOf("tenantry_database_away_seconds")).toBe(0);
  const said = away.logLines.slice(lines).filter((line) => line.includes("the database is "));
  expect(said.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 40, forSeconds: 3_600, msg: "the database is away: checks with max_staleness are answered from memory" },
    { level: 30, calls: 1, msg: "the database is back: all answers are exact" },
  ]);
});
