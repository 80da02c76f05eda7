// Tests how recent the data of a response is: current by default, older only if the caller allows it. If that cannot be
// known, the call fails.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import pg from "pg";
import { beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { startEmbeddedPostgres } from "../../src/database/embedded/start-embedded-postgres.ts";
import { type AccessPlace, createAccessClient, createAccessPlace, startInstance } from "../support/access-place.ts";
import { createApi } from "../support/api.ts";
import { copyCluster } from "../support/copy-cluster.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { startTestServer } from "../support/test-server.ts";
import { overFirst } from "../support/transports.ts";
import { numberOf } from "../../src/changes/revision.ts";

let server: SharedServer;
/** Another server on the same database. */
let other: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
  other = await secondSharedServer();
});

const permission = startInstance;
const protocols = ["Connect", "gRPC", "REST"] as const;
const minute = durationFromMs(60_000);

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  let place: AccessPlace;
  beforeEach(async () => {
    place = await createAccessPlace(protocol, server.url, server.operatorKey);
  });

  /** Checks access with `max_staleness`, which is allowed, and revokes the access on the other server: a server knows its own writes. */
  const revoked = async () => {
    const { access, alice, web, grant } = place;
    const question = { subjectPath: alice, permission, resourcePath: web };
    const path = await grant(web, alice, "/roles/admin");
    const before = await access.checkAccess({ ...question, maxStaleness: minute });
    await createApi(protocol, other.url, server.operatorKey).roleBindings.deleteRoleBinding({ path });
    // The other server has no older data.
    const { revision: next } = await createAccessClient(protocol, other.url, server.operatorKey).checkAccess(question);
    return { question, before, next };
  };

  test("without max_staleness, every server responds with current data", async () => {
    const there = createAccessClient(protocol, other.url, server.operatorKey);
    const { alice, web } = place;
    const question = { subjectPath: alice, permission, resourcePath: web };
    expect((await there.checkAccess(question)).allowed).toBe(false);
    const path = await place.grant(web, alice, "/roles/admin");
    expect((await there.checkAccess(question)).allowed).toBe(true);
    await place.api.roleBindings.deleteRoleBinding({ path });
    expect((await there.checkAccess(question)).allowed).toBe(false);
  });

  test("with max_staleness, the data may be that old, and no older", async () => {
    const { access } = place;
    const { question, before } = await revoked();
    const { allowed, revision } = await access.checkAccess({ ...question, maxStaleness: minute });
    expect({ allowed, revision }).toEqual({ allowed: true, revision: before.revision });
    await sleep(5);
    const bounded = await access.checkAccess({ ...question, maxStaleness: durationFromMs(5) });
    expect(bounded.allowed).toBe(false);
    expect(numberOf(bounded.revision)).toBeGreaterThan(numberOf(revision));
  });

  test("a max_staleness of zero requires current data", async () => {
    const { question } = await revoked();
    const { allowed } = await place.access.checkAccess({ ...question, maxStaleness: durationFromMs(0) });
    expect(allowed).toBe(false);
  });

  test("a revision requires data that includes it, even with max_staleness", async () => {
    const { access } = place;
    const { question, before, next } = await revoked();
    const ask = (revision: string) => access.checkAccess({ ...question, maxStaleness: minute, revision });
    expect((await ask(before.revision)).allowed).toBe(true);
    const answer = await ask(next);
    expect({ allowed: answer.allowed, revision: answer.revision }).toEqual({ allowed: false, revision: next });
  });

  test("lists and batches accept max_staleness, too", async () => {
    const { access, org } = place;
    const { question, next } = await revoked();
    const { subjectPath, resourcePath } = question;
    const ask = async (revision: string) => {
      const fresh = { permission, maxStaleness: minute, revision };
      return [
        (await access.listSubjects({ ...fresh, resourcePath })).subjectPaths,
        (await access.listResources({ ...fresh, subjectPath, parentPath: org.path })).resourcePaths,
        (await access.batchCheckAccess({ checks: [{ ...fresh, subjectPath, resourcePath }] })).results[0]?.allowed,
      ];
    };
    expect(await ask("")).toEqual([[subjectPath], [resourcePath], true]);
    expect(await ask(next)).toEqual([[], [], false]);
  });

  test("a max_staleness above a day, of a list above a minute, or below zero is refused, as is a text that is not a revision", async () => {
    const { access, alice, web } = place;
    const question = { subjectPath: alice, permission, resourcePath: web };
    const refused = [
      access.checkAccess({ ...question, maxStaleness: durationFromMs(86_400_001) }),
      access.checkAccess({ ...question, maxStaleness: durationFromMs(-1) }),
      access.listSubjects({ permission, resourcePath: web, maxStaleness: durationFromMs(60_001) }),
    ];
    const invalid = { code: "InvalidArgument", fields: ["max_staleness"] };
    expect(await Promise.all(refused.map(failureOf))).toMatchObject(refused.map(() => invalid));
    const call = access.checkAccess({ ...question, revision: "new" });
    expect(await failureOf(call)).toMatchObject({ code: "InvalidArgument", fields: ["revision"] });
  });
});

test("while changes cannot be read, checks fail rather than use older data", async () => {
  // Long enough for the first calls to a new server, also on a busy machine.
  const impatient = await startTestServer({ databaseUrl: server.databaseUrl, requestTimeoutMs: 8_000 });
  onTestFinished(() => impatient.close());
  const { api, alice, web, grant } = await createAccessPlace("Connect", server.url, server.operatorKey);
  const question = { subjectPath: alice, permission, resourcePath: web };
  const clients = protocols.map((protocol) => createAccessClient(protocol, impatient.url, server.operatorKey));
  const answers = () => Promise.all(clients.map(async (access) => (await access.checkAccess(question)).allowed));
  const path = await grant(web, alice, "/roles/admin");
  expect(await answers()).toEqual(clients.map(() => true));
  await api.roleBindings.deleteRoleBinding({ path });
  const locker = new pg.Client({ connectionString: server.databaseUrl });
  await locker.connect();
  onTestFinished(() => locker.end());
  await locker.query("begin; lock table changes in access exclusive mode");
  const failures = await Promise.all(clients.map((access) => failureOf(access.checkAccess(question))));
  // The limit of a lock ends before the deadline of a call, unless the machine is slow.
  for (const { code } of failures) expect(["Unavailable", "DeadlineExceeded"]).toContain(code);
  await locker.query("rollback");
  expect(await answers()).toEqual(clients.map(() => false));
});

test("checks fail while the database is down, and are correct afterwards", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-gone-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const migrated = inject("migratedCluster");
  if (migrated !== "") await copyCluster(migrated, join(directory, "postgres"));
  const settings = { fsync: "off" };
  const start = () => startEmbeddedPostgres({ directory: join(directory, "postgres"), settings, log: () => {} });
  let postgres = await start();
  onTestFinished(() => postgres.stop());
  const { host, port, user, database } = postgres.connection;
  const databaseUrl = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  const alone = await startTestServer({ databaseUrl });
  onTestFinished(() => alone.close());

  const { api, alice, org, web, grant } = await createAccessPlace("Connect", alone.url, alone.operatorKey);
  const path = await grant(web, alice, "/roles/admin");
  const question = { subjectPath: alice, permission, resourcePath: web };
  const clients = protocols.map((protocol) => createAccessClient(protocol, alone.url, alone.operatorKey));
  const answers = () => Promise.all(clients.map(async (access) => (await access.checkAccess(question)).allowed));
  expect(await answers()).toEqual(clients.map(() => true));

  await postgres.stop();
  const calls = clients.flatMap((access) => [
    access.checkAccess(question),
    access.checkAccess({ ...question, maxStaleness: minute }),
    access.batchCheckAccess({ checks: [question] }),
    access.listSubjects({ permission, resourcePath: web }),
    access.listResources({ subjectPath: alice, permission, parentPath: org.path }),
    access.explainAccess(question),
    access.testPermissions({ resourcePath: web, permissions: [permission] }),
  ]);
  const failures = await Promise.all(calls.map(failureOf));
  expect(failures.map(({ code, reason }) => `${code} ${reason}`)).toEqual(
    calls.map(() => "Unavailable SERVICE_UNAVAILABLE"),
  );

  postgres = await start();
  expect(await answers()).toEqual(clients.map(() => true));
  await api.roleBindings.deleteRoleBinding({ path });
  expect(await answers()).toEqual(clients.map(() => false));
});
