// Tests that what ends by itself is an entry of the log when it ends, and not when the next run of the job comes.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Change_Type } from "../../../gen/iam/v1alpha/change_pb.ts";
import { Member_State } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { Committed } from "../../../src/database/commits.ts";
import { createEndTimer } from "../../../src/jobs/purge/end-timer.ts";
import { endAfterChange } from "../../../src/jobs/purge/noted-ends.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { addOrg } from "../../database/sample-rows.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { openPurgeFixture } from "./purge-fixture.ts";
import { unfollowed } from "../../support/unfollowed.ts";

/** No run comes while a test runs, but for those that follow an end. */
const purgeIntervalMs = 3_000_000;

let server: TestServer;
let api: Api;
beforeAll(async () => {
  server = await startTestServer({ purgeIntervalMs });
  api = createApi("gRPC", server.url, server.operatorKey);
});
afterAll(() => server.close());

/** Later than all that ends then is created, also on a busy machine. */
const soon = () => timestampFromMs(Date.now() + 15_000);

/** Creates something of each kind that ends soon, in an org of its own. Returns the path of the org. */
async function createEnding(on: Api): Promise<string> {
  const { path: parentPath } = await on.orgs.createOrg({ org: { name: uniqueName("ending") } });
  const member = await on.members.createMember({ parentPath, member: { name: "alice" } });
  const group = await on.groups.createGroup({ parentPath, group: { name: "devs" } });
  const expireTime = soon();
  await on.groupMembers.createGroupMember({
    parentPath: group.path,
    groupMember: { memberPath: member.path, expireTime },
  });
  await on.roleBindings.createRoleBinding({
    parentPath,
    roleBinding: { name: "short", rolePath: "/roles/viewer", subjectPath: member.path, expireTime },
  });
  await on.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "short", expireTime } });
  await on.members.createMember({
    parentPath,
    member: { name: "invited", state: Member_State.INVITED, invitationExpireTime: expireTime },
  });
  return parentPath;
}

const expired = async (on: Api, parentPath: string): Promise<string[]> => {
  const { changes } = await on.changes.listChanges({ parentPath, filter: "type = EXPIRED" });
  return changes.map(({ resourceType }) => resourceType).toSorted();
};

const kinds = ["ApiKey", "GroupMember", "Member", "RoleBinding"];

// These two wait for their ends beside each other.
test.concurrent("a membership, a role binding, a key and an invitation are entries when they end, with the time of their end", async ({
  expect: expectHere,
}) => {
  const parentPath = await createEnding(api);
  await expectHere.poll(() => expired(api, parentPath)).toEqual(kinds);
  const { changes } = await api.changes.listChanges({ parentPath, filter: "type = EXPIRED" });
  for (const change of changes) {
    expectHere(change).toMatchObject({ method: "tenantry/purge", actorPath: "", type: Change_Type.EXPIRED });
    const [end, time] = [change.endTime?.seconds ?? 0n, change.time?.seconds ?? 0n];
    expectHere(end).toBeGreaterThan(0n);
    expectHere(time).toBeGreaterThanOrEqual(end);
  }
});

test.concurrent("a server that has started knows what ends from the database", async ({
  expect: expectHere,
  onTestFinished: onFinished,
}) => {
  const idle = await startTestServer();
  onFinished(() => idle.close());
  const other = createApi("gRPC", idle.url, idle.operatorKey);
  const parentPath = await createEnding(other);
  const started = await startTestServer({ purgeIntervalMs, databaseUrl: idle.databaseUrl });
  onFinished(() => started.close());
  await expectHere.poll(() => expired(other, parentPath)).toEqual(kinds);
});

test("of the runs that follow ends, one waits for the one in progress, however many ends there are meanwhile", async () => {
  const fixture = await openPurgeFixture();
  const { database } = fixture;
  const { id: orgId } = await addOrg(database, "acme");
  const [locked, unlocked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // A run that looks for what has ended waits for this lock.
  const holding = fixture
    .connect()
    .writes.transaction()
    .execute(async (db) => {
      await sql`lock table members in access exclusive mode`.execute(db);
      locked.resolve();
      await unlocked.promise;
    });
  await locked.promise;
  const job = fixture.createJob({ intervalMs: 600_000 });
  const waiting = async () =>
    (await fixture.query(sql`select count(*)::int as n from pg_locks where not granted`))[0]?.["n"];
  await expect.poll(waiting).toBe(1);
  const ended = { resource_type: "Session", after: { expire_time: "2030-01-01T00:00:00.000Z" } };
  for (let end = 0; end < 4; end++) {
    const entries = [{ ...ended, time: "2030-01-01T00:00:00.000000Z" }] as unknown as Committed["entries"];
    database.commits.tell([{ ...unfollowed, orgId, before: undefined, entries, lockedAt: performance.now() }]);
    await sleep(700);
  }
  unlocked.resolve();
  await holding;
  // Comes after all that wait: the first one, at most one other, and this one.
  await job.runOnce();
  expect(job.runs.ended).toBeLessThanOrEqual(3);
});

describe("the timer of ends", () => {
  test("runs once for many ends, and again for a later one", async () => {
    let runs = 0;
    const timer = createEndTimer(() => void runs++, 10_000);
    onTestFinished(() => timer.close());
    for (let end = 0; end < 50; end++) timer.note(end / 10);
    await expect.poll(() => runs).toBe(1);
    timer.note(0);
    await expect.poll(() => runs).toBe(2);
  });

  test("does not run for what ends after a run that comes in any case, nor after it is closed", async () => {
    let runs = 0;
    const timer = createEndTimer(() => void runs++, 1);
    timer.note(2);
    timer.note(Infinity);
    const other = createEndTimer(() => void runs++, 10);
    other.note(1);
    other.close();
    other.note(0);
    createEndTimer(() => void runs++, 0).note(-1);
    const last = createEndTimer(() => void (runs += 100), 10);
    last.note(0);
    await expect.poll(() => runs).toBeGreaterThanOrEqual(100);
    await expect.poll(() => runs).toBe(100);
  });
});

test("an entry says how long after it what it is about ends", () => {
  const entry = { resource_type: "GroupMember", time: "2030-01-01T00:00:00.000000Z" };
  const endAfter = (after: object | null, type = "GroupMember") =>
    endAfterChange({ ...entry, resource_type: type, after } as Parameters<typeof endAfterChange>[0]);
  expect(endAfter({ expire_time: "2030-01-01T00:00:02.000Z" })).toBe(2000);
  expect(endAfter({ expire_time: new Date("2030-01-01T00:00:02.000Z") }, "Session")).toBe(2000);
  expect(endAfter({ invitation_expire_time: "2030-01-01T00:00:02.000Z" }, "Member")).toBe(2000);
  expect(endAfter({ expire_time: null })).toBe(Infinity);
  expect(endAfter(null)).toBe(Infinity);
  expect(endAfter({ expire_time: "2030-01-01T00:00:02.000Z" }, "Group")).toBe(Infinity);
});
