// Tests what receivers get of a webhook of a customer: its own log and those of its orgs, each in its order.
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Webhook,
  Webhook_DisabledReason,
  Webhook_Format,
  Webhook_State,
  WebhookDelivery_State,
} from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { uniqueName } from "../../support/api.ts";
import { openSqlClient } from "../../support/sql.ts";
import { type CustomerPlace, openCustomerPlace } from "./customer-place.ts";
import { eventsOf, idsOf, pathsOf } from "./place.ts";
import { type Received, type Receiver, accept, answerWith, startReceiver } from "./receiver.ts";

let place: CustomerPlace;
beforeAll(async () => {
  place = await openCustomerPlace();
});
afterAll(() => place.close());

const { DELIVERED, FAILED, DEAD } = WebhookDelivery_State;

const listOf = (webhook: Webhook, orgPath = "") =>
  place.owner.webhooks.listWebhookDeliveries({ parentPath: webhook.path, orgPath });

const statesOf = async (webhook: Webhook, orgPath = "") =>
  (await listOf(webhook, orgPath)).deliveries.map(({ state }) => state);

const stateOf = async ({ path }: Webhook) => {
  const { state, disabledReason } = await place.owner.webhooks.getWebhook({ path });
  return [state, disabledReason];
};

/** What a receiver got of an org. */
const pathsIn = ({ received }: Receiver, { path }: { readonly path: string }): string[] =>
  pathsOf(received).filter((each) => each.startsWith(`${path}/`));

test("what changes in the customer and in each of its orgs is delivered, each log in its order, and with orgs that are created later", async () => {
  const { owner, company, customerPath, orgs } = place;
  const receiver = await startReceiver();
  const filter = 'resource_type = "Group" OR resource_type = "Customer" OR resource_type = "Org"';
  const webhook = await place.createWebhook(receiver, { filter });
  expect(webhook.path).toMatch(new RegExp(`^${customerPath}/webhooks/`));
  const created: string[] = [];
  for (let index = 0; index < 6; index++) created.push(await place.createGroup(required(orgs[index % 2])));
  await owner.customers.updateCustomer({ path: customerPath, customer: { description: uniqueName("changed") } });
  const later = await place.createOrg();
  const inLater = await place.createGroup(later);
  // Of another customer.
  await company.api.groups.createGroup({
    parentPath: (await company.api.orgs.createOrg({ org: { name: uniqueName("other") } })).path,
    group: { name: "group" },
  });
  await expect.poll(() => receiver.received.length).toBe(9);
  for (const org of orgs) {
    expect(pathsIn(receiver, org)).toEqual(created.filter((path) => path.startsWith(`${org.path}/`)));
  }
  expect(pathsOf(receiver.received).filter((path) => path.startsWith(later.path))).toEqual([later.path, inLater]);
  expect(pathsOf(receiver.received)).toContain(customerPath);
  expect(new Set(idsOf(receiver.received)).size).toBe(9);
});

test("the log of the customer is delivered from after the creation of the webhook", async () => {
  const { owner, customerPath } = place;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver, {
    filter: 'resource_type = "Webhook" OR resource_type = "Customer"',
  });
  await owner.customers.updateCustomer({ path: customerPath, customer: { description: uniqueName("changed") } });
  await owner.webhooks.updateWebhook({ path: webhook.path, webhook: { description: "changed" } });
  await expect.poll(() => pathsOf(receiver.received)).toEqual([customerPath, webhook.path]);
  expect(eventsOf(receiver.received).map(({ type }) => type)).toEqual(["customer.updated", "webhook.updated"]);
});

test("CloudEvents name the log of the customer or of the org, and requests have its signed end", async () => {
  const { owner, customerPath, orgs, company } = place;
  const receiver = await startReceiver();
  const filter = 'resource_type = "Group" OR resource_type = "Customer"';
  await place.createWebhook(receiver, { filter, format: Webhook_Format.CLOUDEVENTS });
  await place.createGroup(orgs[1]);
  await owner.customers.updateCustomer({ path: customerPath, customer: { description: uniqueName("changed") } });
  await expect.poll(() => receiver.received.length).toBe(2);
  const { id } = await company.api.customers.getCustomer({ path: customerPath });
  const sources = receiver.received.map(({ headers }) => String(headers["ce-source"])).toSorted();
  expect(sources).toEqual([`/customers/@${id}/changes`, `/orgs/@${orgs[1].id}/changes`]);
  const claims = ({ headers }: Received): unknown =>
    JSON.parse(Buffer.from(String(headers["tenantry-log-head"]).split(".")[1] ?? "", "base64url").toString());
  expect(receiver.received.map(claims)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ customer_id: id }),
      expect.objectContaining({ org_id: orgs[1].id }),
    ]),
  );
});

test("a batch has the changes of one log", async () => {
  const { owner, orgs } = place;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver, { format: Webhook_Format.NDJSON_BATCH });
  await owner.webhooks.pauseWebhook({ path: webhook.path });
  const created: string[] = [];
  for (const org of [...orgs, ...orgs]) created.push(await place.createGroup(org));
  await owner.webhooks.resumeWebhook({ path: webhook.path });
  await expect.poll(() => receiver.received.length).toBe(2);
  const batches = receiver.received.map(({ body }) =>
    body
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { resource_path: string }).resource_path),
  );
  const expected = orgs.map(({ path }) => created.filter((each) => each.startsWith(`${path}/`)));
  expect(batches).toHaveLength(2);
  expect(batches).toEqual(expect.arrayContaining(expected));
});

test("a receiver that fails gets one request at each try, whatever the log, and then everything in order", async () => {
  const { orgs } = place;
  const receiver = await startReceiver(answerWith(503));
  const webhook = await place.createWebhook(receiver);
  const created: string[] = [];
  for (const org of [...orgs, ...orgs]) created.push(await place.createGroup(org));
  await expect.poll(() => statesOf(webhook)).toEqual([FAILED]);
  // Both logs are tried, one after the other.
  await place.passWait(webhook);
  await expect.poll(() => receiver.received.length).toBe(2);
  await place.createGroup(orgs[0]).then((path) => created.push(path));
  await place.createGroup(orgs[1]).then((path) => created.push(path));
  expect(receiver.received).toHaveLength(2);
  receiver.answer = accept;
  await place.passWait(webhook);
  await expect.poll(() => new Set(pathsOf(receiver.received)).size).toBe(created.length);
  for (const org of orgs) {
    const paths = pathsIn(receiver, org);
    const inOrder = created.filter((path) => path.startsWith(`${org.path}/`));
    expect(paths.filter((path, index) => paths.indexOf(path) === index)).toEqual(inOrder);
  }
  expect(new Set(idsOf(receiver.received)).size).toBe(created.length);
  await expect.poll(async () => new Set(await statesOf(webhook))).toEqual(new Set([DELIVERED]));
});

test("what is refused in one log does not keep the others, and is given up after three days", async () => {
  const { orgs } = place;
  const [bad, good] = orgs;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver);
  receiver.answer = (response, received) => {
    const [event] = eventsOf([received]);
    return answerWith(event?.data.resource_path.startsWith(`${bad.path}/`) ? 413 : 204)(response, received);
  };
  const refused = await place.createGroup(bad);
  await expect.poll(() => statesOf(webhook)).toEqual([FAILED]);
  // The wait of the receiver is over, and that of the log is not.
  await place.sql.query("update webhooks set next_attempt_time = 'epoch' where id = $1", [webhook.id]);
  await place.owner.members.updateMember({ path: place.owner.path, member: { description: "wakes" } });
  await expect
    .poll(() => place.sql.query("select from webhooks where id = $1 and failing_since is null", [webhook.id]))
    .toHaveLength(1);
  const accepted = await place.createGroup(good);
  await expect.poll(() => statesOf(webhook, good.path)).toEqual([DELIVERED]);
  expect(pathsIn(receiver, good)).toEqual([accepted]);
  await expect
    .poll(() => place.sql.query("select from webhooks where id = $1 and lease_id is null", [webhook.id]))
    .toHaveLength(1);
  await place.sql.query(
    "update webhook_logs set failing_since = failing_since - interval '3 days' where webhook_id = $1 and org_id = $2",
    [webhook.id, bad.id],
  );
  await place.passWait(webhook);
  await expect.poll(() => statesOf(webhook, bad.path)).toEqual([DEAD]);
  expect(new Set(pathsIn(receiver, bad))).toEqual(new Set([refused]));
});

test("the status 410 for one log disables all, and when it is resumed, all that was written meanwhile follows", async () => {
  const { owner, orgs } = place;
  const receiver = await startReceiver(answerWith(410));
  const webhook = await place.createWebhook(receiver);
  const created = [await place.createGroup(orgs[0])];
  await expect.poll(() => stateOf(webhook)).toEqual([Webhook_State.DISABLED, Webhook_DisabledReason.GONE]);
  // Of which the webhook has delivered nothing yet.
  const later = await place.createOrg();
  for (const org of [orgs[1], later, orgs[0]]) created.push(await place.createGroup(org));
  expect(receiver.received).toHaveLength(1);
  receiver.answer = accept;
  await owner.webhooks.resumeWebhook({ path: webhook.path });
  await expect.poll(() => receiver.received.length).toBe(5);
  expect(new Set(pathsOf(receiver.received))).toEqual(new Set(created));
  expect(pathsIn(receiver, orgs[0])).toEqual([created[0], created[0], created[3]]);
});

test("a replay sends one log again, from a revision on", async () => {
  const { owner, customerPath, orgs } = place;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver);
  const created: string[] = [];
  for (const org of [...orgs, ...orgs]) created.push(await place.createGroup(org));
  await expect.poll(() => receiver.received.length).toBe(4);
  const [{ path: orgPath }] = orgs;
  const { changes } = await owner.changes.listChanges({ parentPath: orgPath, filter: 'resource_type = "Group"' });
  const fromRevision = required(changes[1]).revision;
  const replay = (org: string) => owner.webhooks.replayWebhook({ path: webhook.path, fromRevision, orgPath: org });
  await expect(replay("")).rejects.toThrow("from_revision: must be the revision of a Change that is in the log");
  await expect(replay(orgs[1].path)).rejects.toThrow("from_revision: must be");
  await expect(replay("/orgs/system")).rejects.toThrow("org_path: must be an org of the customer");
  await expect(replay("/orgs/no-such")).rejects.toThrow("org_path: must be an org of the customer");
  await replay(orgPath);
  await expect.poll(() => receiver.received.length).toBe(6);
  expect(pathsOf(receiver.received).slice(4)).toEqual([created[0], created[2]]);
  expect(idsOf(receiver.received)).toEqual(expect.arrayContaining(idsOf(receiver.received).slice(4)));
  const { revision } = required(
    (await owner.changes.listChanges({ parentPath: customerPath, filter: 'resource_type = "Webhook"' })).changes[0],
  );
  await owner.webhooks.replayWebhook({ path: webhook.path, fromRevision: revision });
});

test("a replay does not leave out what is written at the same time and is committed later", async () => {
  const { owner, orgs, sql } = place;
  const [org] = orgs;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver);
  const first = await place.createGroup(org);
  await expect.poll(() => receiver.received.length).toBe(1);
  const { changes } = await owner.changes.listChanges({ parentPath: org.path, filter: 'resource_type = "Group"' });
  const holder = await openSqlClient(place.server.databaseUrl);
  await holder.query("begin");
  await holder.query("lock table groups in share mode");
  // It has the lock of its org, and its time, when it waits for the table.
  const late = place.createGroup(org);
  const waiting = "select from pg_locks where relation = 'groups'::regclass and not granted";
  await expect.poll(() => sql.query(waiting)).toHaveLength(1);
  const fromRevision = required(changes[0]).revision;
  await owner.webhooks.replayWebhook({ path: webhook.path, fromRevision, orgPath: org.path });
  await expect.poll(() => receiver.received.length).toBe(2);
  const isAtEnd = "select from webhook_logs where webhook_id = $1 and org_id = $2 and cursor_position = 2147483647";
  await expect.poll(() => sql.query(isAtEnd, [webhook.id, org.id])).toHaveLength(1);
  await holder.query("commit");
  await holder.close();
  await late;
  await expect.poll(() => pathsOf(receiver.received)).toEqual([first, first, await late]);
});

test("deliveries are listed of all logs, or of one", async () => {
  const { owner, orgs } = place;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver);
  for (const org of [...orgs, orgs[0]]) await place.createGroup(org);
  await expect.poll(() => statesOf(webhook)).toEqual([DELIVERED, DELIVERED, DELIVERED]);
  const byId = ({ id }: { readonly id: string }): string => `/orgs/@${id}`;
  const all = await listOf(webhook);
  expect(all.deliveries.map(({ orgPath }) => orgPath).toSorted()).toEqual([...orgs, orgs[0]].map(byId).toSorted());
  expect(all.deliveredRevision).toBe("");
  const one = await listOf(webhook, orgs[1].path);
  expect(one.deliveries.map(({ orgPath }) => orgPath)).toEqual([byId(orgs[1])]);
  expect(one.deliveredRevision).not.toBe("");
  const { path: parentPath } = webhook;
  const first = await owner.webhooks.listWebhookDeliveries({ parentPath, pageSize: 2 });
  const rest = await owner.webhooks.listWebhookDeliveries({ parentPath, pageSize: 2, pageToken: first.nextPageToken });
  expect([...first.deliveries, ...rest.deliveries].map(({ id }) => id)).toEqual(all.deliveries.map(({ id }) => id));
  for (const other of ["/orgs/system", "/orgs/no-such"]) {
    await expect(listOf(webhook, other)).rejects.toThrow("org_path: must be an org of the customer");
  }
});
