// Tests what receivers get, in which order, in which formats, and what becomes of what they do not accept.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Webhook,
  Webhook_DisabledReason,
  Webhook_Format,
  Webhook_State,
  WebhookDelivery_State,
} from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { openCompany } from "../../access/callers.ts";
import { uniqueName } from "../../support/api.ts";
import { type WebhookPlace, eventsOf, idsOf, onlyGroups, openWebhookPlace, pathsOf } from "./place.ts";
import { type Answer, type Received, accept, answerWith, startReceiver } from "./receiver.ts";

let place: WebhookPlace;
beforeAll(async () => {
  place = await openWebhookPlace();
});
afterAll(() => place.close());

const deliveriesOf = async ({ path: parentPath }: Webhook) =>
  (await place.owner.webhooks.listWebhookDeliveries({ parentPath })).deliveries;

const statesOf = async (webhook: Webhook) => (await deliveriesOf(webhook)).map(({ state }) => state);

const stateOf = async ({ path }: Webhook) => {
  const { state, disabledReason } = await place.owner.webhooks.getWebhook({ path });
  return [state, disabledReason];
};

const verifies = ({ secret = "" }: Webhook, { headers, body }: Received): unknown =>
  new StandardWebhook(secret).verify(body, headers as Record<string, string>);

const { DELIVERED, FAILED, DEAD } = WebhookDelivery_State;

test("each change is a request, in order, signed as the package standardwebhooks verifies it", async () => {
  const { owner, company } = place;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver);
  const paths = await place.createGroups(5);
  await expect.poll(() => pathsOf(receiver.received)).toEqual(paths);
  for (const received of receiver.received) {
    expect(verifies(webhook, received)).toMatchObject({ type: "group.created" });
    expect(() => verifies(webhook, { ...received, body: `${received.body} ` })).toThrow("No matching signature");
  }
  expect(new Set(idsOf(receiver.received)).size).toBe(5);
  const { changes } = await owner.changes.listChanges({ parentPath: company.org.path, filter: onlyGroups });
  const [newest] = changes;
  expect(eventsOf(receiver.received).at(-1)).toMatchObject({
    data: { revision: newest?.revision, resource_path: newest?.resourcePath, after: newest?.after },
  });
  await expect.poll(() => statesOf(webhook)).toEqual(paths.map(() => DELIVERED));
});

test("CloudEvents are in binary mode, and signed as well", async () => {
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver, { format: Webhook_Format.CLOUDEVENTS });
  const [path] = await place.createGroups(1);
  await expect.poll(() => receiver.received.length).toBe(1);
  const received = required(receiver.received[0]);
  const { headers, body } = received;
  expect(headers).toMatchObject({
    "ce-specversion": "1.0",
    "ce-type": "dev.tenantry.group.created",
    "ce-source": `/orgs/@${place.company.org.id}/changes`,
    "ce-subject": path,
    "ce-id": headers["webhook-id"],
    "ce-time": expect.stringMatching(/^\d{4}-.*Z$/),
    "content-type": "application/json",
  });
  expect(JSON.parse(body)).toMatchObject({ resource_path: path, type: "CREATED" });
  verifies(webhook, received);
});

test("a batch has the changes of some seconds, a line for each, and is the same when it is sent again", async () => {
  const receiver = await startReceiver(answerWith(500));
  const webhook = await place.createWebhook(receiver, { format: Webhook_Format.NDJSON_BATCH });
  // However long it takes to create them, all are there when it begins to deliver.
  await place.owner.webhooks.pauseWebhook({ path: webhook.path });
  const first = await place.createGroups(3);
  await place.owner.webhooks.resumeWebhook({ path: webhook.path });
  await expect.poll(() => deliveriesOf(webhook)).toMatchObject([{ state: FAILED, attempts: 1, changeCount: 3 }]);
  const [tried] = await deliveriesOf(webhook);
  const [{ createTime }] = [await place.owner.groups.getGroup({ path: required(first[0]) })];
  expect(timestampMs(required(tried?.attemptTime)) - timestampMs(required(createTime))).toBeGreaterThanOrEqual(5_000);
  const later = await place.createGroups(2);
  receiver.answer = accept;
  await place.passWait(webhook);
  await expect.poll(() => receiver.received.length).toBe(3);
  const linesOf = ({ body }: Received): unknown[] =>
    body
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { resource_path: string }).resource_path);
  expect(receiver.received.map(linesOf)).toEqual([first, first, later]);
  const [sent, again, next] = idsOf(receiver.received);
  expect([sent === again, sent === next]).toEqual([true, false]);
  expect(receiver.received[0]?.headers["content-type"]).toBe("application/x-ndjson");
  for (const { headers, body } of receiver.received) {
    // `verify` also parses one JSON text.
    const signer = new StandardWebhook(webhook.secret ?? "");
    const time = new Date(Number(headers["webhook-timestamp"]) * 1_000);
    expect(headers["webhook-signature"]).toBe(signer.sign(String(headers["webhook-id"]), time, body));
  }
  await expect
    .poll(async () => (await deliveriesOf(webhook)).map(({ changeCount, attempts }) => [changeCount, attempts]))
    .toEqual([
      [2, 1],
      [3, 2],
    ]);
});

test("what fails is sent again, the same and before anything later, until it is accepted", async () => {
  const receiver = await startReceiver(answerWith(503, "not now"));
  const webhook = await place.createWebhook(receiver);
  const paths = await place.createGroups(3);
  await expect
    .poll(() => deliveriesOf(webhook))
    .toMatchObject([{ state: FAILED, attempts: 1, statusCode: 503, answer: "not now", error: "" }]);
  const [failed] = await deliveriesOf(webhook);
  expect(failed?.nextAttemptTime?.seconds).toBeGreaterThan(failed?.attemptTime?.seconds ?? 0n);
  await place.passWait(webhook);
  await expect.poll(() => deliveriesOf(webhook)).toMatchObject([{ state: FAILED, attempts: 2 }]);
  receiver.answer = accept;
  await place.passWait(webhook);
  const [first = "", ...others] = paths;
  await expect.poll(() => pathsOf(receiver.received)).toEqual([first, first, first, ...others]);
  expect(new Set(idsOf(receiver.received.slice(0, 3))).size).toBe(1);
  const bodies = receiver.received.slice(0, 3).map(({ body }) => body);
  expect(new Set(bodies).size).toBe(1);
  await expect.poll(() => statesOf(webhook)).toEqual([DELIVERED, DELIVERED, DELIVERED]);
});

test("what a receiver has refused for three days is given up, what follows is not, and a replay sends it with the same id", async () => {
  const receiver = await startReceiver(answerWith(500));
  const webhook = await place.createWebhook(receiver);
  const paths = await place.createGroups(2);
  await expect.poll(() => statesOf(webhook)).toEqual([FAILED]);
  await place.passDays(webhook, 2);
  await expect.poll(async () => (await deliveriesOf(webhook))[0]?.attempts).toBe(2);
  expect(await statesOf(webhook)).toEqual([FAILED]);
  await place.passDays(webhook, 1);
  await expect.poll(() => statesOf(webhook)).toEqual([DEAD]);
  const [dead] = await deliveriesOf(webhook);
  expect(dead).toMatchObject({ id: idsOf(receiver.received)[0], attempts: 3 });
  await place.passWait(webhook);
  await expect.poll(() => statesOf(webhook)).toEqual([FAILED, DEAD]);
  receiver.answer = accept;
  await place.passWait(webhook);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([paths[0], paths[0], paths[0], paths[1], paths[1]]);
  await expect.poll(() => statesOf(webhook)).toEqual([DELIVERED, DEAD]);
  await place.owner.webhooks.replayWebhook({ path: webhook.path, fromRevision: required(dead).revision });
  await expect.poll(() => pathsOf(receiver.received).slice(5)).toEqual(paths);
  expect(idsOf(receiver.received).slice(5)).toEqual([dead?.id, idsOf(receiver.received)[3]]);
  await expect.poll(() => statesOf(webhook)).toEqual([DELIVERED, DELIVERED]);
});

test("of a webhook with a thousand later deliveries, those of a replay are kept, and the ones that were tried first are not", async () => {
  const { sql } = place;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver);
  await place.createGroups(2);
  await expect.poll(() => statesOf(webhook)).toEqual([DELIVERED, DELIVERED]);
  const [, first] = await deliveriesOf(webhook);
  await sql.query(
    `insert into webhook_deliveries (customer_id, org_id, webhook_id, revision, position, message_id, change_count, state, attempts,
      attempt_time, status_code, answer, error, duration_ms)
    select customer_id, org_id, webhook_id, gen_random_uuid(), 0, 'later-' || n, 1, 'DELIVERED', 1,
      attempt_time - make_interval(mins => 2000 - n), 200, '', '', 1
    from (select * from webhook_deliveries where webhook_id = $1 order by revision limit 1) as one, generate_series(1, 1000) as n`,
    [webhook.id],
  );
  await sql.query(
    "update webhook_deliveries set revision = overlay(revision::text placing 'f' from 1)::uuid where message_id like 'later-%'",
  );
  const kept = async () => {
    const ids = "array_agg(message_id order by attempt_time) filter (where message_id like 'later-%')";
    const states = "array_agg(state order by revision) filter (where message_id not like 'later-%')";
    const text = `select count(*)::int, (${ids})[1] as oldest, ${states} as replayed from webhook_deliveries where webhook_id = $1`;
    return (await sql.query(text, [webhook.id]))[0];
  };
  receiver.answer = answerWith(500);
  await place.owner.webhooks.replayWebhook({ path: webhook.path, fromRevision: required(first).revision });
  await expect.poll(kept).toEqual({ count: 1_000, oldest: "later-3", replayed: ["FAILED", "DELIVERED"] });
  receiver.answer = accept;
  await place.passWait(webhook);
  await expect.poll(kept).toEqual({ count: 1_000, oldest: "later-3", replayed: ["DELIVERED", "DELIVERED"] });
});

test("lists of deliveries that are asked for at once are each those of their webhook", async () => {
  const receiver = await startReceiver();
  const webhooks = [await place.createWebhook(receiver), await place.createWebhook(receiver)];
  await place.createGroups(1);
  await expect.poll(() => receiver.received.length).toBe(2);
  for (const webhook of webhooks) await expect.poll(() => statesOf(webhook)).toEqual([DELIVERED]);
  // By names and by ids, so often that the server looks up several together.
  const paths = Array.from({ length: 8 }, () =>
    webhooks.flatMap(({ path, id }) => [path, path.replace(/[^/]+$/, `@${id}`)]),
  );
  const lists = await Promise.all(
    paths.flat().map((parentPath) => place.owner.webhooks.listWebhookDeliveries({ parentPath })),
  );
  expect(lists.map(({ deliveries }) => deliveries.length)).toEqual(paths.flat().map(() => 1));
  // Who holds it by the customer reads in the orgs of that alone.
  const { company } = place;
  const auditor = await company.join(uniqueName("auditor"));
  await company.bind(company.org.customerPath, "viewer", auditor);
  const [wanted] = webhooks;
  const parentPath = required(wanted).path.replace(/[^/]+$/, `@${required(wanted).id}`);
  for (const path of [parentPath, parentPath.replace(company.org.name, "-")]) {
    const { deliveries } = await auditor.webhooks.listWebhookDeliveries({ parentPath: path });
    expect(deliveries).toHaveLength(1);
  }
});

test("a replay from a revision that is not in the log of the org is refused", async () => {
  const other = await openCompany("gRPC", place.server);
  const webhook = await place.createWebhook(await startReceiver());
  const { path } = webhook;
  const ofOther = other.org.etag;
  for (const fromRevision of [ofOther, "00000000-0000-0001-8000-000000000000"]) {
    await expect(place.owner.webhooks.replayWebhook({ path, fromRevision })).rejects.toThrow("from_revision: must be");
  }
});

test("410 disables a webhook, nothing is sent afterwards, and what it has not accepted follows when it is resumed", async () => {
  const receiver = await startReceiver(answerWith(410));
  const webhook = await place.createWebhook(receiver);
  const [first = "", ...others] = await place.createGroups(2);
  await expect.poll(() => stateOf(webhook)).toEqual([Webhook_State.DISABLED, Webhook_DisabledReason.GONE]);
  await place.passWait(webhook);
  await place.createGroups(1);
  const control = await startReceiver();
  await place.createWebhook(control);
  await place.createGroups(1);
  await expect.poll(() => control.received.length).toBe(1);
  expect(pathsOf(receiver.received)).toEqual([first]);
  receiver.answer = accept;
  await place.owner.webhooks.resumeWebhook({ path: webhook.path });
  await expect.poll(() => pathsOf(receiver.received).slice(0, 3)).toEqual([first, first, ...others]);
  expect(await stateOf(webhook)).toEqual([Webhook_State.ACTIVE, Webhook_DisabledReason.DISABLED_REASON_UNSPECIFIED]);
});

test.each([301, 302, 307, 308])("a redirect with %i is a failure, and is not followed", async (status) => {
  const target = await startReceiver();
  const receiver = await startReceiver((response) => void response.writeHead(status, { location: target.url }).end());
  const webhook = await place.createWebhook(receiver);
  await place.createGroups(1);
  await expect.poll(() => deliveriesOf(webhook)).toMatchObject([{ state: FAILED, statusCode: status }]);
  expect(target.received).toEqual([]);
});

/** Sends without end, until the connection is closed. */
const huge: Answer = (response) => {
  response.writeHead(200);
  const write = (): void => {
    while (!response.destroyed && response.write("x".repeat(65_536)));
  };
  response.on("drain", write);
  write();
};

test("of a huge answer, the first bytes are kept and the rest is not read", async () => {
  const receiver = await startReceiver(huge);
  const webhook = await place.createWebhook(receiver);
  await place.createGroups(2);
  await expect.poll(() => statesOf(webhook)).toEqual([DELIVERED, DELIVERED]);
  const [delivery] = await deliveriesOf(webhook);
  expect(delivery).toMatchObject({ statusCode: 200, answer: "x".repeat(1_024) });
});

test("a receiver that does not answer holds up no other one", async () => {
  const silent = await startReceiver(() => {});
  await place.createWebhook(silent);
  const receiver = await startReceiver();
  await place.createWebhook(receiver);
  const paths = await place.createGroups(3);
  await expect.poll(() => silent.received.length).toBe(1);
  await expect.poll(() => pathsOf(receiver.received)).toEqual(paths);
});

test("a receiver that is down is a failure that says so", async () => {
  const webhook = await place.createWebhook({ url: "http://127.0.0.1:1/" });
  await place.createGroups(1);
  await expect
    .poll(() => deliveriesOf(webhook))
    .toMatchObject([{ state: FAILED, statusCode: 0, error: "127.0.0.1:1 cannot be reached" }]);
});

test("a paused webhook sends nothing, and goes on where it was", async () => {
  const { owner } = place;
  const receiver = await startReceiver();
  const { path } = await place.createWebhook(receiver);
  const [first] = await place.createGroups(1);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([first]);
  expect(await owner.webhooks.pauseWebhook({ path })).toMatchObject({ state: Webhook_State.PAUSED });
  const meanwhile = await place.createGroups(2);
  const control = await startReceiver();
  await place.createWebhook(control);
  await place.createGroups(1);
  await expect.poll(() => control.received.length).toBe(1);
  expect(receiver.received).toHaveLength(1);
  await owner.webhooks.resumeWebhook({ path });
  await expect.poll(() => pathsOf(receiver.received).slice(0, 3)).toEqual([first, ...meanwhile]);
});

test("with a secret that is rotated, requests are signed with both, and with the new one alone when the old one ends", async () => {
  const { owner } = place;
  const receiver = await startReceiver();
  const before = await place.createWebhook(receiver);
  const after = await owner.webhooks.rotateWebhook({ path: before.path });
  expect(after.secret).not.toBe(before.secret);
  await place.createGroups(1);
  await expect.poll(() => receiver.received.length).toBe(1);
  for (const each of [before, after]) verifies(each, required(receiver.received[0]));
  const last = await owner.webhooks.rotateWebhook({ path: before.path, overlap: { seconds: 0n } });
  await place.createGroups(1);
  await expect.poll(() => receiver.received.length).toBe(2);
  verifies(last, required(receiver.received[1]));
  for (const each of [before, after])
    expect(() => verifies(each, required(receiver.received[1]))).toThrow("No matching signature");
});

test("secrets are shown once, and are neither in the log nor in the database as they are", async () => {
  const { owner, company, sql, server } = place;
  const webhook = await place.createWebhook(await startReceiver());
  const rotated = await owner.webhooks.rotateWebhook({ path: webhook.path });
  expect((await owner.webhooks.getWebhook({ path: webhook.path })).secret).toBeUndefined();
  const { changes } = await owner.changes.listChanges({
    parentPath: company.org.path,
    filter: 'resource_type = "Webhook"',
  });
  for (const { secret = "" } of [webhook, rotated]) {
    const key = secret.replace("whsec_", "");
    expect(key).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    const hex = Buffer.from(key, "base64").toString("hex");
    expect(JSON.stringify(changes.map(({ before, after }) => [before, after]))).not.toContain(key);
    expect([await sql.tablesWith(key), await sql.tablesWith(hex)]).toEqual([[], []]);
    expect(server.logLines.filter((line) => line.includes(key))).toEqual([]);
  }
});

test("a test sends a signed request at once, also of a paused webhook, and says what the receiver answered", async () => {
  const { owner } = place;
  const receiver = await startReceiver(answerWith(418, "a teapot"));
  const webhook = await place.createWebhook(receiver);
  await owner.webhooks.pauseWebhook({ path: webhook.path });
  const delivery = await owner.webhooks.testWebhook({ path: webhook.path });
  expect(delivery).toMatchObject({ state: FAILED, statusCode: 418, answer: "a teapot" });
  expect(verifies(webhook, required(receiver.received[0]))).toMatchObject({ type: "webhook.test" });
  expect(await deliveriesOf(webhook)).toEqual([]);
});

test("nothing of another org is delivered, and nothing while the org is suspended", async () => {
  const { company, owner } = place;
  const receiver = await startReceiver();
  await place.createWebhook(receiver);
  const other = await openCompany("gRPC", place.server);
  await other.api.groups.createGroup({ parentPath: other.org.path, group: { name: uniqueName("group") } });
  const [first] = await place.createGroups(1);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([first]);
  const second = uniqueName("group");
  receiver.answer = answerWith(500);
  await owner.groups.createGroup({ parentPath: company.org.path, group: { name: second } });
  await expect.poll(() => receiver.received.length).toBe(2);
  receiver.answer = accept;
  await company.api.orgs.suspendOrg({ path: company.org.path });
  await place.sql.query("update webhooks set next_attempt_time = 'epoch'");
  // Found together with the one of the suspended org.
  const control = await startReceiver();
  const webhook = { name: "control", url: control.url, filter: onlyGroups };
  await other.api.webhooks.createWebhook({ parentPath: other.org.path, webhook });
  await other.api.groups.createGroup({ parentPath: other.org.path, group: { name: uniqueName("group") } });
  await expect.poll(() => control.received.length).toBe(1);
  expect(receiver.received).toHaveLength(2);
  await company.api.orgs.activateOrg({ path: company.org.path });
  await expect.poll(() => pathsOf(receiver.received).slice(2)).toEqual([`${company.org.path}/groups/${second}`]);
});
