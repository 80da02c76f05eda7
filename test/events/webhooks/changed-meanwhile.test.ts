// Tests what is delivered when a turn ends within a revision, and when a webhook is changed or taken over while a request of it is under way.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Webhook, WebhookDelivery_State, Webhook_State as State } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { openCompany } from "../../access/callers.ts";
import { uniqueName } from "../../support/api.ts";
import { openSqlClient } from "../../support/sql.ts";
import { type WebhookPlace, openWebhookPlace, pathsOf } from "./place.ts";
import { type Answer, accept, answerWith, startReceiver } from "./receiver.ts";

let place: WebhookPlace;
/** A write in another org with a webhook, after which the server looks for what to deliver. */
let wake: () => Promise<unknown>;
beforeAll(async () => {
  place = await openWebhookPlace();
  const { api, org } = await openCompany("gRPC", place.server);
  const webhook = { name: "hook", url: "https://hooks.invalid/", filter: 'resource_type = "Project"' };
  await api.webhooks.createWebhook({ parentPath: org.path, webhook });
  wake = () => api.groups.createGroup({ parentPath: org.path, group: { name: uniqueName("group") } });
});
afterAll(() => place.close());

const statesOf = async ({ path: parentPath }: Webhook) =>
  (await place.owner.webhooks.listWebhookDeliveries({ parentPath })).deliveries.map(({ state }) => state);

/** An answer that waits until it is told how to go on. */
function held(): { readonly answer: Answer; readonly go: (as: Answer) => void } {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  return { answer: (response, received) => void promise.then((as) => as(response, received)), go: resolve };
}

test("what follows in the same revision is tried again, also when nothing else is written in the org", async () => {
  const { company, owner, sql } = place;
  const receiver = await startReceiver((response, received) =>
    (receiver.received.length === 1 ? accept : answerWith(500))(response, received),
  );
  const webhook = await place.createWebhook(receiver);
  const parentPath = company.org.path;
  const { groups } = await owner.groups.batchCreateGroups({
    parentPath,
    requests: [1, 2, 3].map(() => ({ group: { name: uniqueName("group") } })),
  });
  const { DELIVERED, FAILED } = WebhookDelivery_State;
  await expect.poll(() => statesOf(webhook)).toEqual([FAILED, DELIVERED]);
  receiver.answer = accept;
  await sql.query("update webhooks set next_attempt_time = 'epoch' where id = $1", [webhook.id]);
  await wake();
  const [first, second, third] = groups.map(({ path }) => path);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([first, second, second, third]);
});

test("what is written after another filter was set is delivered by that one, also while a request is under way", async () => {
  const { company, owner } = place;
  const receiver = await startReceiver();
  const { path } = await place.createWebhook(receiver);
  const { answer, go } = held();
  receiver.answer = answer;
  const [group] = await place.createGroups(1);
  await expect.poll(() => receiver.received.length).toBe(1);
  await owner.webhooks.updateWebhook({ path, webhook: { url: receiver.url, filter: 'resource_type = "Project"' } });
  const parentPath = company.org.path;
  const project = await owner.projects.createProject({ parentPath, project: { name: uniqueName("project") } });
  go(accept);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([group, project.path]);
});

test("a receiver that is gone disables no webhook that has another one by then, also if both wait for the org", async () => {
  const { owner, company, server } = place;
  const receiver = await startReceiver();
  const { answer, go } = held();
  receiver.answer = answer;
  const { path } = await place.createWebhook(receiver);
  const [group] = await place.createGroups(1);
  await expect.poll(() => receiver.received.length).toBe(1);

  const sql = await openSqlClient(server.databaseUrl);
  await sql.query("begin");
  await sql.query("select from orgs where id = $1 for update", [company.org.id]);
  const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  const other = await startReceiver();
  const updated = owner.webhooks.updateWebhook({ path, webhook: { url: other.url } });
  await expect.poll(() => sql.query(waiting)).toHaveLength(1);
  go(answerWith(410));
  await expect.poll(async () => (await sql.query(waiting)).length).toBeGreaterThan(1);
  await sql.query("commit");
  await sql.close();
  await updated;
  await expect.poll(() => pathsOf(other.received)).toEqual([group]);
  expect((await owner.webhooks.getWebhook({ path })).state).toBe(State.ACTIVE);
});

test("another URL is tried at once, whatever becomes of a request to the one before that is under way", async () => {
  const { owner } = place;
  const receiver = await startReceiver(answerWith(500));
  const webhook = await place.createWebhook(receiver);
  const [group] = await place.createGroups(1);
  await expect.poll(() => statesOf(webhook)).toEqual([WebhookDelivery_State.FAILED]);
  const { answer, go } = held();
  receiver.answer = answer;
  await place.passDays(webhook, 2);
  await expect.poll(() => receiver.received.length).toBe(2);
  const other = await startReceiver();
  await owner.webhooks.updateWebhook({ path: webhook.path, webhook: { url: other.url } });
  go(answerWith(500));
  await expect.poll(() => pathsOf(other.received)).toEqual([group]);
});

test("a server whose lease was taken over while its request was under way does not move the cursor", async () => {
  const { sql } = place;
  const [receiver, other] = await Promise.all([startReceiver(), startReceiver()]);
  const webhook = await place.createWebhook(receiver);
  await place.createWebhook(other);
  const { answer, go } = held();
  receiver.answer = answer;
  const [group] = await place.createGroups(1);
  await expect.poll(() => receiver.received.length).toBe(1);
  const takeOver = "update webhooks set lease_id = gen_random_uuid(), lease_end = 'infinity' where id = $1";
  await sql.query(takeOver, [webhook.id]);
  receiver.answer = accept;
  go(accept);
  // The server goes on, with what it may.
  const [next] = await place.createGroups(1);
  await expect.poll(() => pathsOf(other.received)).toEqual([group, next]);
  await sql.query("update webhooks set lease_id = null, lease_end = 'epoch' where id = $1", [webhook.id]);
  await place.passWait(webhook);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([group, group, next]);
});
