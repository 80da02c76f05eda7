// Tests how loading orgs affects other work.
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import type { Database } from "../../src/database/database.ts";
import { createAccessClient, createAccessPlace, startInstance } from "../support/access-place.ts";
import { failureOf } from "../support/failure.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { sharedServer } from "../support/shared-server.ts";
import { startTestServer } from "../support/test-server.ts";
import { openDistantDatabase } from "./distant-database.ts";
import { insertOrg } from "./org-rows.ts";
import { sampleRevision } from "../support/revisions.ts";

/** The head of the inserted orgs. */
const head = { revision: sampleRevision(7), readAt: 0 };

/** With this many members and memberships, an org has more rows than a small one. */
const largeOrg = 10_500;

function openSnapshots(database: Database, maxBytes = Infinity) {
  const predefinedRoles = { viewer: { permissions: [] } };
  return createSnapshots({
    database,
    readConnections: 4,
    maxBytes,
    predefinedRoles,
    compileCondition: () => () => true,
  });
}

test("other statements get a connection, however many large and small orgs are loaded", async () => {
  const database = await openTestDatabase();
  const sizes = [1, largeOrg, 2, largeOrg, 3, 4, largeOrg, 5];
  const orgs = await Promise.all(
    sizes.map((members) => insertOrg(database, { members, groups: 1, counted: members < 9 })),
  );
  const snapshots = openSnapshots(database);
  let reading: Promise<unknown> | undefined;
  await database.writes.transaction().execute(async (db) => {
    // All loads wait for this lock.
    await sql`lock table group_members in access exclusive mode`.execute(db);
    reading = Promise.all(orgs.map(async (org) => snapshots.at(org, head)));
    const { rows } = await sql`select 1 as one from pg_sleep(0.3)`.execute(database.reads);
    expect(rows).toEqual([{ one: 1 }]);
  });
  await reading;
  expect(orgs.map((org) => snapshots.held(org)?.members.records.count())).toEqual(sizes);
});

test("a small org does not wait for large ones", async () => {
  const database = await openTestDatabase();
  const large = await Promise.all(
    [1, 2].map(() => insertOrg(database, { members: largeOrg, groups: 10, counted: false })),
  );
  const small = await insertOrg(database, { members: 10, groups: 10 });
  /** Returns whether the small one is read before any of the large ones, which are asked for before it. */
  const isFirst = async (): Promise<boolean> => {
    const snapshots = openSnapshots(database);
    const reading = large.map(async (org) => snapshots.at(org, head));
    await snapshots.at(small, head);
    const held = large.map((org) => snapshots.held(org) !== undefined);
    await Promise.all(reading);
    return !held.includes(true);
  };
  // The database may have kept its statements waiting, when others have the processor. If it waited for large ones, it would never be first.
  await expect.poll(isFirst).toBe(true);
});

test("two orgs that do not fit into memory together are both served, and one of them is kept", async () => {
  const database = await openTestDatabase();
  const orgs = [
    await insertOrg(database, { members: 2_000, groups: 10 }),
    await insertOrg(database, { members: 2_000, groups: 10 }),
  ];
  const { bytes } = await openSnapshots(database).at(orgs[0] ?? "", head);
  const snapshots = openSnapshots(database, bytes * 1.5);
  for (let round = 0; round < 3; round++) {
    for (const org of orgs) {
      expect((await snapshots.at(org, head)).org.id).toBe(org);
      expect(orgs.filter((each) => snapshots.held(each) !== undefined)).toEqual([org]);
    }
  }
  await Promise.all(orgs.map(async (org) => snapshots.at(org, head)));
});

test("loading continues after the timeout of the call that started it, and serves a later call", async () => {
  const server = await sharedServer();
  const { access, alice, web } = await createAccessPlace("gRPC", server.url, server.operatorKey);
  const distant = await openDistantDatabase(server.databaseUrl, 100);
  onTestFinished(() => distant.close());
  const far = await startTestServer({ databaseUrl: distant.url, requestTimeoutMs: 700 });
  onTestFinished(() => far.close());
  // Loading takes longer than the timeout of a call.
  const question = { subjectPath: alice, permission: startInstance, resourcePath: web };
  await access.checkAccess(question);
  const there = createAccessClient("gRPC", far.url, server.operatorKey);
  expect(await failureOf(there.checkAccess(question))).toMatchObject({ code: "DeadlineExceeded" });
  await expect
    .poll(() =>
      there.checkAccess(question).then(
        ({ allowed }) => allowed,
        () => undefined,
      ),
    )
    .toBe(false);
});
