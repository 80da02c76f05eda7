// Tests how it is noted which logs webhooks of customers have to deliver, and that none is missed.
import { type Kysely, sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import type { Schema } from "../../../src/database/schema.ts";
import { compareAllLogs, endNoted, findNextLog } from "../../../src/events/deliveries/customer-logs.ts";
import { findDue, noteHeads, noteWritten, noteWrittenSince } from "../../../src/events/deliveries/due.ts";
import { webhookFollowers } from "../../../src/events/deliveries/followers.ts";
import { claim } from "../../../src/events/deliveries/store.ts";
import { required } from "../../../src/errors/required.ts";
import { addOrg } from "../../database/sample-rows.ts";
import { useSharedDatabase } from "../../database/shared-database.ts";
import { uniqueName } from "../../support/api.ts";
import { addEntry, addWebhooksOfCustomer } from "./follower-rows.ts";

const openShared = useSharedDatabase();
let db: Kysely<Schema>;
let customerId: string;
let orgIds: readonly [string, string];
let id: string;

/** A customer of two orgs, with a webhook. */
beforeEach(async () => {
  db = openShared().writes;
  await sql`update webhooks set state = 'PAUSED'`.execute(db);
  const [one, other] = [await addOrg(openShared(), uniqueName("org")), await addOrg(openShared(), uniqueName("org"))];
  customerId = one.customer_id;
  await sql`update orgs set customer_id = ${customerId} where id = ${other.id}`.execute(db);
  orgIds = [one.id, other.id];
  id = required((await addWebhooksOfCustomer(db, customerId, 1))[0]);
});

const noteNow = (...ids: string[]) => {
  const time = new Date(Date.now() + 10).toISOString();
  return noteWritten(
    db,
    webhookFollowers,
    new Map(ids.map((each) => [each, { customerId, time, isOrgChanged: false }])),
  );
};

const isDue = async () => (await findDue(db, webhookFollowers, 10)).places.some((place) => place.id === id);

async function claimed() {
  const place = { customer_id: customerId, org_id: customerId, id };
  const lease = { place, id: randomUUID() };
  const now = new Date(Date.now() + 60_000);
  const webhook = required(await claim(db, lease, { now, end: new Date(now.getTime() + 60_000) }));
  return { lease, webhook };
}

const logsOf = async () =>
  (await sql<{ org_id: string }>`select org_id from webhook_logs where webhook_id = ${id}`.execute(db)).rows
    .map((row) => row.org_id)
    .toSorted();

test("a log has a row when something in it is noted, and none before", async () => {
  expect([await isDue(), await logsOf()]).toEqual([false, []]);
  await noteNow(orgIds[1]);
  expect([await isDue(), await logsOf()]).toEqual([true, [orgIds[1]]]);
  await noteNow(customerId, ...orgIds);
  expect(await logsOf()).toEqual([customerId, ...orgIds].toSorted());
});

test("a note does not wait for the lock of an org, and what it leaves out is found in what was written lately", async () => {
  await addEntry(db, orgIds[0]);
  await db.transaction().execute(async (transaction) => {
    await sql`select from orgs where id = ${orgIds[0]} for update`.execute(transaction);
    await noteNow(...orgIds);
    expect(await logsOf()).toEqual([orgIds[1]]);
  });
  await noteWrittenSince(db, webhookFollowers, new Date(Date.now() - 3_600_000));
  expect(await logsOf()).toEqual([...orgIds].toSorted());
});

test("what is from before the webhook is not noted", async () => {
  await noteHeads(db, webhookFollowers);
  await noteWrittenSince(db, webhookFollowers, new Date(Date.now() - 3_600_000));
  expect([await isDue(), await logsOf()]).toEqual([false, []]);
});

test.each([
  ["in what was written lately", () => noteWrittenSince(db, webhookFollowers, new Date(Date.now() - 3_600_000))],
  ["in the heads of all logs", () => noteHeads(db, webhookFollowers)],
])("what a server has written that was killed is found %s", async (_where, note) => {
  await addEntry(db, orgIds[0]);
  await note();
  expect([await isDue(), await logsOf()]).toEqual([true, [orgIds[0]]]);
});

test("what is noted after a turn has found nothing more, and before it ends, is due afterwards", async () => {
  await noteNow(orgIds[0]);
  const { lease } = await claimed();
  await sql`update webhook_logs set cursor_time = noted_time where webhook_id = ${id}`.execute(db);
  const nothing = required(await findNextLog(db, lease));
  expect(nothing.log).toBeUndefined();
  // Of another log, with an earlier time.
  const time = new Date(Date.now() + 5).toISOString();
  await noteWritten(db, webhookFollowers, new Map([[orgIds[1], { customerId, time, isOrgChanged: false }]]));
  await endNoted(db, lease, nothing.noted);
  expect(await isDue()).toBe(true);
  const next = required(await findNextLog(db, lease));
  expect(next.log?.log_id).toBe(orgIds[1]);
  await sql`update webhook_logs set cursor_time = noted_time where webhook_id = ${id}`.execute(db);
  await endNoted(db, lease, required(await findNextLog(db, lease)).noted);
  expect(await isDue()).toBe(false);
});

test("the log that waits longest is next, and that of a suspended org is left out", async () => {
  await noteNow(...orgIds);
  const { lease } = await claimed();
  const next = async () => (await findNextLog(db, lease))?.log?.log_id;
  await sql`update webhook_logs set next_attempt_time = now() where webhook_id = ${id} and org_id = ${orgIds[0]}`.execute(
    db,
  );
  expect(await next()).toBe(orgIds[1]);
  await sql`update orgs set state = 'SUSPENDED' where id = ${orgIds[1]}`.execute(db);
  expect(await next()).toBe(orgIds[0]);
  await sql`update webhooks set lease_id = gen_random_uuid() where id = ${id}`.execute(db);
  expect(await findNextLog(db, lease)).toBeUndefined();
});

test("a webhook that was resumed finds what was written meanwhile in all logs, and once more if it was resumed again", async () => {
  const { lease, webhook } = await claimed();
  await addEntry(db, orgIds[1]);
  await sql`update webhooks set cursor_position = -1 where id = ${id}`.execute(db);
  await compareAllLogs(db, lease, { ...webhook, changed_revision: randomUUID() });
  expect([await isDue(), await logsOf()]).toEqual([true, [orgIds[1]]]);
  const positions = async () =>
    (await sql<{ cursor_position: number }>`select cursor_position from webhooks where id = ${id}`.execute(db)).rows[0];
  expect(await positions()).toEqual({ cursor_position: -1 });
  await compareAllLogs(db, lease, webhook);
  expect(await positions()).toEqual({ cursor_position: 2_147_483_647 });
});

test("servers that note the same logs at once wait for each other, and none fails", async () => {
  await addWebhooksOfCustomer(db, customerId, 20);
  const rounds = Array.from({ length: 20 }, (_, round) => noteNow(...(round % 2 === 0 ? orgIds : orgIds.toReversed())));
  await Promise.all(rounds);
  expect(await logsOf()).toEqual([...orgIds].toSorted());
});
