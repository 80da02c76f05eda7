// Tests servers that answer checks while their database is stopped, is a standby, or is slow to come back.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startEmbeddedPostgres } from "../../src/database/embedded/start-embedded-postgres.ts";
import { createAccessClient, createAccessPlace, startInstance as permission } from "../support/access-place.ts";
import { copyCluster } from "../support/copy-cluster.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTokenMember } from "../support/token-servers.ts";

let directory: string;
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
let databaseUrl: string;
let server: TestServer;
/** One that goes on for a millisecond. */
let brief: TestServer;

const start = () =>
  startEmbeddedPostgres({ directory: join(directory, "postgres"), settings: { fsync: "off" }, log: () => {} });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tenantry-away-"));
  const migrated = inject("migratedCluster");
  if (migrated !== "") await copyCluster(migrated, join(directory, "postgres"));
  postgres = await start();
  const { host, port, user, database } = postgres.connection;
  databaseUrl = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  server = await startTestServer({ databaseUrl, staleChecksMs: 3_600_000, rateReadsPerCaller: 20 });
  brief = await startTestServer({ databaseUrl, staleChecksMs: 1 });
});
afterAll(async () => {
  await brief.close();
  await server.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
});

test("a database that stops and comes back as a standby extends nothing, and is exact again as a primary", async () => {
  const { api, org, alice, web, grant } = await createAccessPlace("Connect", server.url, server.operatorKey);
  const path = await grant(web, alice, "/roles/admin");
  const question = { subjectPath: alice, permission, resourcePath: web };
  const hour = { ...question, maxStaleness: durationFromMs(3_600_000) };
  const access = createAccessClient("Connect", server.url, server.operatorKey);
  const app = await createTokenMember(api, org.path, "owner");
  const ofApp = createAccessClient("Connect", server.url, app.key);
  const ofBrief = createAccessClient("Connect", brief.url, server.operatorKey);
  for (const client of [access, ofApp, ofBrief])
    expect(await client.checkAccess(hour)).toMatchObject({ allowed: true });

  await postgres.stop();
  const { allowed, staleSince } = await access.checkAccess(hour);
  expect({ allowed, staleSince }).toEqual({ allowed: true, staleSince: expect.anything() as unknown });
  expect(await failureOf(ofBrief.checkAccess(hour))).toMatchObject({ code: "Unavailable" });
  expect((await fetch(`${brief.url}/readyz`)).status).toBe(503);

  const codes: string[] = [];
  for (let call = 0; call < 25; call++)
    codes.push(
      await ofApp.checkAccess(hour).then(
        () => "OK",
        async (error: unknown) => (await failureOf(Promise.reject(error as Error))).code,
      ),
    );
  expect(new Set(codes)).toEqual(new Set(["OK", "ResourceExhausted"]));

  await writeFile(join(directory, "postgres", "cluster", "standby.signal"), "");
  postgres = await start();
  const standby = new pg.Client({ connectionString: databaseUrl });
  await standby.connect();
  expect((await access.checkAccess(hour)).staleSince).toEqual(staleSince);
  expect(await failureOf(access.checkAccess(question))).toMatchObject({ code: "Unavailable" });

  await standby.query("select pg_promote()");
  await standby.end();
  await expect.poll(() => fetch(`${server.url}/readyz`).then((response) => response.text())).toBe('{"status":"ok"}');
  await api.roleBindings.deleteRoleBinding({ path });
  const exact = await access.checkAccess(hour);
  expect({ allowed: exact.allowed, staleSince: exact.staleSince }).toEqual({ allowed: false, staleSince: undefined });
});
