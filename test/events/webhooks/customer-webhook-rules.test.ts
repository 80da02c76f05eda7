// Tests who may have a webhook of a customer deliver, and what becomes of it with its customer, its orgs and its member.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Webhook_DisabledReason, Webhook_State } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import type { Caller } from "../../access/callers.ts";
import { uniqueName } from "../../support/api.ts";
import { type CustomerPlace, openCustomerPlace } from "./customer-place.ts";
import { eventsOf, pathsOf } from "./place.ts";
import { type Received, startReceiver } from "./receiver.ts";

let place: CustomerPlace;
beforeAll(async () => {
  place = await openCustomerPlace();
});
afterAll(() => place.close());

const url = "https://hooks.invalid/";

/** The methods of the changes that a receiver got. */
const methodsOf = (received: readonly Received[]) =>
  received.map(({ body }) => (JSON.parse(body) as { data: { method: string } }).data.method.split("/").at(-1));

const create = ({ webhooks }: Pick<Caller, "webhooks">, parentPath = place.customerPath) =>
  webhooks.createWebhook({ parentPath, webhook: { name: uniqueName("hook"), url } });

test("who may not list the changes of the customer creates no webhook, also with every role on an org of it", async () => {
  const ofOrg = await place.company.joinAs("owner", "owner-of-org");
  await expect(create(ofOrg)).rejects.toThrow("iam.webhooks.create");
  const path = (await create(place.owner)).path;
  await expect(ofOrg.webhooks.getWebhook({ path })).rejects.toThrow("iam.webhooks.get");
  await expect(ofOrg.webhooks.listWebhookDeliveries({ parentPath: path })).rejects.toThrow(
    "iam.webhookDeliveries.list",
  );
  await place.owner.webhooks.deleteWebhook({ path });
});

test("webhooks of another customer are neither seen nor changed", async () => {
  const { company, owner } = place;
  const { customerPath } = await company.api.orgs.createOrg({ org: { name: uniqueName("other") } });
  const { path, id } = await create(company.api, customerPath);
  for (const named of [path, `${customerPath}/webhooks/@${id}`, `${customerPath}/webhooks/no-such`]) {
    await expect(owner.webhooks.getWebhook({ path: named })).rejects.toThrow("or it might not exist");
    await expect(owner.webhooks.pauseWebhook({ path: named })).rejects.toThrow("or it might not exist");
  }
  for (const parent of [place.customerPath, company.org.path]) {
    await expect(company.api.webhooks.getWebhook({ path: `${parent}/webhooks/@${id}` })).rejects.toThrow(
      "there is no webhook",
    );
  }
  const { webhooks } = await owner.webhooks.listWebhooks({ parentPath: place.customerPath });
  expect(webhooks.map((webhook) => webhook.id)).not.toContain(id);
});

test("it is read, changed and deleted as that of an org, and its changes are in the log of the customer", async () => {
  const { owner, customerPath, sql, orgs } = place;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver);
  expect(webhook.secret).toMatch(/^whsec_/);
  await place.createGroup(orgs[0]);
  await expect.poll(() => receiver.received.length).toBe(1);
  const { path, id } = webhook;
  const renamed = await owner.webhooks.updateWebhook({ path, webhook: { name: uniqueName("renamed") } });
  expect(renamed).toMatchObject({ id, memberPath: expect.stringContaining("/members/@") });
  expect((await owner.webhooks.rotateWebhook({ path: renamed.path })).secret).toMatch(/^whsec_/);
  const { webhooks, totalSize } = await owner.webhooks.listWebhooks({ parentPath: customerPath });
  expect(webhooks.map((each) => each.id)).toContain(id);
  expect(totalSize).toBe(webhooks.length);
  await owner.webhooks.deleteWebhook({ path: renamed.path });
  const filter = `resource_path = "${customerPath}/webhooks/@${id}"`;
  const { changes } = await owner.changes.listChanges({ parentPath: customerPath, filter, orderBy: "time" });
  expect(changes.map(({ method }) => method.split("/").at(-1))).toEqual([
    "CreateWebhook",
    "UpdateWebhook",
    "RotateWebhook",
    "DeleteWebhook",
  ]);
  expect(changes.map((change) => change.customerPath)).toEqual(changes.map(() => customerPath));
  expect(changes[0]?.after).toMatchObject({ url: receiver.url });
  for (const table of ["webhook_logs", "webhook_deliveries"]) {
    expect(await sql.query(`select from ${table} where webhook_id = $1`, [id])).toEqual([]);
  }
});

test("it shows what its member may see, and is disabled when that may not list the changes of the customer any more", async () => {
  const { company, customerPath, orgs, owner } = place;
  const receiver = await startReceiver();
  const caller = await company.join(uniqueName("member"));
  const binding = await company.bind(customerPath, "owner", caller);
  const webhook = await caller.webhooks.createWebhook({
    parentPath: customerPath,
    webhook: { name: uniqueName("hook"), url: receiver.url, filter: 'resource_type = "Group"' },
  });
  const shown = await place.createGroup(orgs[1]);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([shown]);
  expect(eventsOf(receiver.received)[0]?.data).toHaveProperty("after");
  // Keeps the list of the orgs that it is in.
  await company.bind(company.org.path, "owner", caller);
  await company.api.roleBindings.deleteRoleBinding({ path: binding });
  await place.createGroup(orgs[0]);
  await expect
    .poll(() => owner.webhooks.getWebhook({ path: webhook.path }))
    .toMatchObject({ state: Webhook_State.DISABLED, disabledReason: Webhook_DisabledReason.ACCESS_LOST });
  expect(receiver.received).toHaveLength(1);
  await owner.webhooks.deleteWebhook({ path: webhook.path });
});

test("the log of a suspended org waits until it is active, and others do not; that an org is deleted is the last of it", async () => {
  const { company, orgs, sql } = place;
  const receiver = await startReceiver();
  const webhook = await place.createWebhook(receiver, { filter: 'resource_type = "Group" OR resource_type = "Org"' });
  const [active] = orgs;
  const other = await place.createOrg();
  await company.api.orgs.suspendOrg({ path: other.path });
  const inActive = await place.createGroup(active);
  await expect.poll(() => pathsOf(receiver.received)).toContain(inActive);
  const methods = () => methodsOf(receiver.received.filter((each) => pathsOf([each])[0] === other.path));
  expect(methods()).not.toContain("SuspendOrg");
  await company.api.orgs.activateOrg({ path: other.path });
  await expect.poll(methods).toEqual(["CreateOrg", "SuspendOrg", "ActivateOrg"]);
  await company.api.orgs.deleteOrg({ path: other.path });
  await expect.poll(methods).toEqual(["CreateOrg", "SuspendOrg", "ActivateOrg", "DeleteOrg"]);
  await company.api.orgs.purgeOrg({ path: `/orgs/@${other.id}` });
  const rest = "select from webhook_logs where webhook_id = $1 and org_id = $2";
  await expect.poll(() => sql.query(rest, [webhook.id, other.id])).toEqual([]);
});

test("nothing is delivered while the customer is deleted, and its webhooks go with it", async () => {
  const { company, sql } = place;
  const { api } = company;
  const { customerPath } = await api.orgs.createOrg({ org: { name: uniqueName("gone") } });
  const { id } = await api.customers.getCustomer({ path: customerPath });
  const receiver = await startReceiver();
  const webhook = { name: "audit", url: receiver.url, filter: 'resource_type = "Customer"' };
  const { id: webhookId } = await api.webhooks.createWebhook({ parentPath: customerPath, webhook });
  const changed = (description: string) =>
    api.customers.updateCustomer({ path: customerPath, customer: { description } });
  await changed("one");
  await expect.poll(() => pathsOf(receiver.received)).toEqual([customerPath]);
  await api.customers.deleteCustomer({ path: customerPath });
  const path = `/customers/@${id}/webhooks/@${webhookId}`;
  await expect(api.webhooks.pauseWebhook({ path })).rejects.toThrow("DELETED");
  await expect(create(api, `/customers/@${id}`)).rejects.toThrow("DELETED");
  // It is found to be inactive.
  await expect
    .poll(() => sql.query("select from webhooks where id = $1 and next_attempt_time > now()", [webhookId]))
    .toHaveLength(1);
  expect(receiver.received).toHaveLength(1);
  await api.customers.undeleteCustomer({ path: `/customers/@${id}` });
  await changed("two");
  await expect
    .poll(() => methodsOf(receiver.received))
    .toEqual(["UpdateCustomer", "DeleteCustomer", "UndeleteCustomer", "UpdateCustomer"]);
  await api.customers.deleteCustomer({ path: customerPath });
  await api.customers.purgeCustomer({ path: `/customers/@${id}` });
  for (const table of ["webhooks", "customers"]) {
    const left = `select from ${table} where id = $1`;
    await expect.poll(() => sql.query(left, [table === "webhooks" ? webhookId : id])).toEqual([]);
  }
  for (const table of ["webhook_logs", "webhook_deliveries", "resource_counts"]) {
    expect(await sql.query(`select from ${table} where org_id = $1`, [id])).toEqual([]);
  }
});
