// Tests access checks with role bindings that have a condition, a start time or an expire time.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import pg from "pg";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type AccessPlace, createAccessClient, createAccessPlace, startInstance } from "../support/access-place.ts";
import { failureOf } from "../support/failure.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const permission = startInstance;

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  let place: AccessPlace;
  beforeEach(async () => {
    place = await createAccessPlace(protocol, server.url, server.operatorKey);
  });

  const mayWith = async (context: Record<string, boolean | number | string | string[]>, resourcePath = place.web) => {
    const question = { subjectPath: place.alice, permission, resourcePath, context };
    return (await place.access.checkAccess(question)).allowed;
  };

  test("a condition sees the context of the request, and a missing attribute denies access", async () => {
    const { alice, web, grant } = place;
    await grant(web, alice, "/roles/admin", {
      condition: 'context.ip == "192.0.2.7" && context.level >= 3 && "vpn" in context.tags',
    });
    const good = { ip: "192.0.2.7", level: 3, tags: ["vpn", "office"] };
    expect(await mayWith(good)).toBe(true);
    expect(await mayWith({ ...good, ip: "192.0.2.8" })).toBe(false);
    expect(await mayWith({ ...good, level: 2 })).toBe(false);
    expect(await mayWith({ ...good, level: "3" })).toBe(false);
    expect(await mayWith({ ...good, tags: [] })).toBe(false);
    expect(await mayWith({ ip: "192.0.2.7" })).toBe(false);
    expect(await mayWith({})).toBe(false);
  });

  test("a condition sees the path of the resource, with current names, and its labels", async () => {
    const { api, alice, org, web, grant } = place;
    await grant(org.path, alice, "/roles/admin", {
      condition: `resource.path.startsWith("${web}/instances/") && resource.labels.tier == "test"`,
    });
    expect(await mayWith({}, `${web}/instances/db-1`)).toBe(false);
    const { id } = await api.projects.updateProject({
      path: web,
      project: { labels: { tier: "test" } },
      updateMask: { paths: ["labels"] },
    });
    expect(await mayWith({}, `${web}/instances/db-1`)).toBe(true);
    expect(await mayWith({}, `/orgs/@${org.id}/projects/@${id}/instances/db-1`)).toBe(true);
    expect(await mayWith({}, `${web}/buckets/logs`)).toBe(false);
    expect(await mayWith({}, web)).toBe(false);
    await api.projects.updateProject({ path: web, project: { name: "site" }, updateMask: { paths: ["name"] } });
    expect(await mayWith({}, `${org.path}/projects/site/instances/db-1`)).toBe(false);
  });

  test("a condition sees the time of the request", async () => {
    const { alice, bob, org, web, grant } = place;
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    await grant(web, alice, "/roles/admin", { condition: `request.time < timestamp("${soon}")` });
    await grant(web, bob, "/roles/admin", { condition: `request.time >= timestamp("${soon}")` });
    expect(await place.may(alice, web)).toBe(true);
    expect(await place.may(bob, web)).toBe(false);
    expect((await place.access.listSubjects({ permission, resourcePath: web })).subjectPaths).toEqual([alice]);
    const { grants } = await place.access.explainAccess({ subjectPath: alice, permission, resourcePath: web });
    expect(grants).toHaveLength(1);
    expect(await place.may(alice, org.path)).toBe(false);
  });

  test("lists and explanations use the context, too", async () => {
    const { access, alice, org, web, grant } = place;
    await grant(web, alice, "/roles/admin", { condition: "context.onCall" });
    const listed = async (onCall: boolean) => {
      const context = { onCall };
      const about = { subjectPath: alice, permission, resourcePath: web, context };
      return [
        (await access.listSubjects({ permission, resourcePath: web, context })).subjectPaths,
        (await access.listResources({ subjectPath: alice, permission, parentPath: org.path, context })).resourcePaths,
        (await access.explainAccess(about)).allowed,
        (await access.batchCheckAccess({ checks: [about] })).results.map(({ allowed }) => allowed),
      ];
    };
    expect(await listed(true)).toEqual([[alice], [web], true, [true]]);
    expect(await listed(false)).toEqual([[], [], false, [false]]);
  });

  test("a caller can pass a context for itself, too", async () => {
    const { api, alice, web, grant } = place;
    await grant(web, alice, "/roles/admin", { condition: "context.onCall" });
    const { secret } = await api.apiKeys.createApiKey({ parentPath: alice, apiKey: { name: "ci" } });
    const access = createAccessClient(protocol, server.url, secret);
    const held = async (onCall: boolean) =>
      (await access.testPermissions({ resourcePath: web, permissions: [permission], context: { onCall } })).permissions;
    expect(await held(true)).toEqual([permission]);
    expect(await held(false)).toEqual([]);
  });

  test("a context that is too large is refused", async () => {
    const { access, alice, org, web } = place;
    const question = { subjectPath: alice, permission, resourcePath: web };
    const fits = { note: "x".repeat(4000), values: Array.from({ length: 20 }, (_, index) => index) };
    expect((await access.checkAccess({ ...question, context: fits })).allowed).toBe(false);
    const tooLarge = [{ note: "x".repeat(4097) }, { values: Array.from({ length: 300 }, (_, index) => index) }];
    for (const context of tooLarge) {
      const calls = [
        () => access.checkAccess({ ...question, context }),
        () => access.listSubjects({ permission, resourcePath: web, context }),
        () => access.listResources({ subjectPath: alice, permission, parentPath: org.path, context }),
        () => access.explainAccess({ ...question, context }),
        () => access.testPermissions({ resourcePath: web, permissions: [permission], context }),
      ];
      for (const call of calls) {
        expect(await failureOf(call())).toMatchObject({ code: "InvalidArgument", fields: ["context"] });
      }
      const batch = access.batchCheckAccess({ checks: [question, { ...question, context }] });
      expect(await failureOf(batch)).toMatchObject({ fields: ["checks[1].context"] });
    }
  });

  test("a binding counts from its start time to its expire time", async () => {
    const { api, alice, bob, sre, web, grant } = place;
    const { roleBindings } = api;
    const at = (ms: number) => timestampFromDate(new Date(Date.now() + ms));
    const hour = 3_600_000;
    await grant(web, bob, "/roles/admin", { startTime: at(hour), expireTime: at(2 * hour) });
    const ending = await grant(web, alice, "/roles/admin", { startTime: at(-hour), expireTime: at(hour) });
    expect(await place.may(bob, web)).toBe(false);
    expect(await place.may(alice, web)).toBe(true);
    // The times come near after it was seen what they mean, however long that took.
    await roleBindings.updateRoleBinding({ path: ending, roleBinding: { expireTime: at(5_000) } });
    await expect.poll(() => place.may(alice, web)).toBe(false);
    const starting = await grant(web, sre, "/roles/admin", { startTime: at(hour) });
    expect(await place.may(alice, web)).toBe(false);
    await roleBindings.updateRoleBinding({ path: starting, roleBinding: { startTime: at(1_000) } });
    await expect.poll(() => place.may(alice, web)).toBe(true);
  });
});

test("the clock of the database decides whether a binding counts", async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  await setClockForward(database.url, "1 hour");
  const ahead = await startTestServer({ databaseUrl: database.url });
  onTestFinished(() => ahead.close());
  const { api, access, alice, bob, web, grant } = await createAccessPlace("Connect", ahead.url, ahead.operatorKey);
  const inMinutes = (minutes: number) => timestampFromDate(new Date(Date.now() + minutes * 60_000));
  await grant(web, alice, "/roles/admin", { startTime: inMinutes(30), expireTime: inMinutes(90) });
  await grant(web, bob, "/roles/admin", { expireTime: inMinutes(60.01) });
  const may = async (subjectPath: string) =>
    (await access.checkAccess({ subjectPath, permission, resourcePath: web })).allowed;
  await expect.poll(() => may(bob)).toBe(false);
  expect(await may(alice)).toBe(true);
  expect((await access.listSubjects({ permission, resourcePath: web })).subjectPaths).toEqual([alice]);
  const held = async (memberPath: string) => {
    const { secret } = await api.apiKeys.createApiKey({ parentPath: memberPath, apiKey: { name: "ci" } });
    const own = createAccessClient("Connect", ahead.url, secret);
    return (await own.testPermissions({ resourcePath: web, permissions: [permission] })).permissions;
  };
  expect([await held(alice), await held(bob)]).toEqual([[permission], []]);
});

/** Gives a database its own clock: names are looked up in `public` before the catalog. */
async function setClockForward(databaseUrl: string, by: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const name of ["now", "clock_timestamp"]) {
    await client.query(`
      create function public.${name}() returns timestamptz volatile language sql
      as $$ select pg_catalog.${name}() + interval '${by}' $$`);
  }
  const name = client.escapeIdentifier(new URL(databaseUrl).pathname.slice(1));
  await client.query(`alter database ${name} set search_path = public, pg_catalog`);
  await client.end();
}
