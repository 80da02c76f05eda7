// Tests webhooks for which the log is kept until they have delivered it.
import { sql } from "kysely";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebhookDelivery_State } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { openDatabase } from "../../../src/database/database.ts";
import type { LogDays } from "../../../src/database/held-log.ts";
import { startChangeLogJob } from "../../../src/jobs/change-log-job.ts";
import { type WebhookPlace, openWebhookPlace, pathsOf } from "./place.ts";
import { accept, answerWith, startReceiver } from "./receiver.ts";

let place: WebhookPlace;
beforeAll(async () => {
  place = await openWebhookPlace();
});
afterAll(() => place.close());

const { FAILED, DELIVERED } = WebhookDelivery_State;

test("what a receiver has refused for weeks is not given up, and all of it follows in order", async () => {
  const receiver = await startReceiver(answerWith(500));
  const webhook = await place.createWebhook(receiver, { holdRetention: true });
  const paths = await place.createGroups(3);
  const list = () => place.owner.webhooks.listWebhookDeliveries({ parentPath: webhook.path });
  const states = async () => (await list()).deliveries.map(({ state, attempts }) => [state, attempts]);
  for (const attempts of [1, 2, 3]) {
    await expect.poll(states).toEqual([[FAILED, attempts]]);
    await place.passDays(webhook, 20);
  }
  receiver.answer = accept;
  await place.passWait(webhook);
  await expect.poll(async () => (await states()).map(([state]) => state)).toEqual([DELIVERED, DELIVERED, DELIVERED]);
  expect(new Set(pathsOf(receiver.received))).toEqual(new Set(paths));
  expect(pathsOf(receiver.received).slice(-3)).toEqual(paths);
});

test("old months of the log are kept for it, up to a limit, and the server says so; when it has them, they are dropped", async () => {
  const { owner, sql: client } = place;
  const webhook = await place.createWebhook({ url: "https://hooks.invalid/" }, { holdRetention: true });
  await owner.webhooks.pauseWebhook({ path: webhook.path });
  const connection = { connectionString: place.server.databaseUrl };
  const onConnectionError = (): void => {};
  const database = openDatabase({ connection, maxReadConnections: 2, maxWriteConnections: 2, onConnectionError });
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  const addMonth = () =>
    sql`
      create table changes_2020_01 partition of changes
        for values from ('2020-01-01 00:00:00+00') to ('2020-02-01 00:00:00+00')`.execute(database.writes);
  const days = Math.ceil((Date.now() - Date.UTC(2020, 2, 1)) / 86_400_000);
  const run = async (logDays: LogDays) => {
    lines.length = 0;
    const job = startChangeLogJob({ database, asOwner: (work) => work(database), logDays, logger });
    await job.runOnce();
    await job.close();
    const month = sql<{ name: string | null }>`select to_regclass('changes_2020_01')::text as name`;
    const isKept = (await month.execute(database.reads)).rows[0]?.name !== null;
    return { webhooks: job.held.webhooks, isKept, isWarned: lines.some((line) => line.includes(webhook.id)) };
  };

  await addMonth();
  await client.query("update webhooks set cursor_time = '2020-01-15', cursor_position = 0 where id = $1", [webhook.id]);
  expect(await run({ kept: days, held: 90 })).toEqual({ webhooks: 1, isKept: true, isWarned: true });
  expect(await run({ kept: days, held: 0 })).toMatchObject({ isKept: false });
  await addMonth();
  // One that is behind for longer holds nothing any more.
  await client.query("update webhooks set cursor_time = '2019-01-15' where id = $1", [webhook.id]);
  expect(await run({ kept: days, held: 90 })).toEqual({ webhooks: 0, isKept: false, isWarned: false });
  await addMonth();
  await client.query(
    `update webhooks set cursor_position = 2147483647, cursor_time = (select revision_time from orgs where id = org_id)
    where id = $1`,
    [webhook.id],
  );
  expect(await run({ kept: days, held: 90 })).toEqual({ webhooks: 0, isKept: false, isWarned: false });
  await database.close();
});

test("the list of deliveries says until when the log is kept for it", async () => {
  const { owner, sql: client } = place;
  const webhook = await place.createWebhook({ url: "https://hooks.invalid/" }, { holdRetention: true });
  const end = async () => (await owner.webhooks.listWebhookDeliveries({ parentPath: webhook.path })).holdEndTime;
  expect(await end()).toBeUndefined();
  const set = "update webhooks set cursor_time = now() - make_interval(days => $2), cursor_position = 0 where id = $1";
  await client.query(set, [webhook.id, 399]);
  expect(await end()).toBeUndefined();
  await client.query(set, [webhook.id, 401]);
  const inDays = (Number((await end())?.seconds) - Date.now() / 1_000) / 86_400;
  expect(Math.round(inDays)).toBe(89);
  await owner.webhooks.updateWebhook({ path: webhook.path, webhook: {}, updateMask: { paths: ["hold_retention"] } });
  expect(await end()).toBeUndefined();
});

test("a webhook is not due any more when what was noted for it is gone from the log", async () => {
  const receiver = await startReceiver();
  const { id, path } = await place.createWebhook(receiver);
  await place.createGroups(1);
  await expect.poll(() => receiver.received.length).toBe(1);
  await place.sql.query("update webhooks set noted_time = now() + interval '1 minute' where id = $1", [id]);
  // Has the server look again.
  await place.owner.webhooks.updateWebhook({ path, webhook: { description: "noted" } });
  const isDue = "cursor_position <> 2147483647 or noted_time > cursor_time";
  const read = () => place.sql.query(`select ${isDue} as is_due, attempts from webhooks where id = $1`, [id]);
  await expect.poll(read).toEqual([{ is_due: false, attempts: 0 }]);
  expect(receiver.received).toHaveLength(1);
});
