// Tests who may have a webhook deliver, where to and what, and what becomes of it when its member loses its access.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Webhook_DisabledReason, Webhook_State } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { required } from "../../../src/errors/required.ts";
import type { Caller } from "../../access/callers.ts";
import { createApi, uniqueName } from "../../support/api.ts";
import { type WebhookPlace, eventsOf, openWebhookPlace, pathsOf } from "./place.ts";
import { accept, answerWith, startReceiver } from "./receiver.ts";

let place: WebhookPlace;
beforeAll(async () => {
  place = await openWebhookPlace();
});
afterAll(() => place.close());

const url = "https://hooks.invalid/";

const create = (caller: Pick<Caller, "webhooks">, fields: object = {}) =>
  caller.webhooks.createWebhook({
    parentPath: place.company.org.path,
    webhook: { name: uniqueName("hook"), url, ...fields },
  });

/** Returns a member with a role of these permissions. */
async function joinWith(permissions: readonly string[]): Promise<Caller> {
  const { company } = place;
  const role = await company.api.roles.createRole({
    parentPath: company.org.path,
    role: { name: uniqueName("role"), permissions: [...permissions] },
  });
  const member = await company.join(uniqueName("member"));
  await company.bind(company.org.path, role.path, member);
  return member;
}

async function pathWithIds({ path }: Caller): Promise<string> {
  const { api, org } = place.company;
  return `/orgs/@${org.id}/members/@${(await api.members.getMember({ path })).id}`;
}

describe("a URL is refused", () => {
  test.each([
    "http://hooks.example.com/",
    "ftp://hooks.example.com/",
    "https://user:password@hooks.example.com/",
    "https://localhost/",
    "https://a.localhost/",
    "https://hooks.example.com./",
    "https://127.0.0.2/",
    "https://127.2/",
    "https://0x7f.2/",
    "https://2130706434/",
    "https://017700000002/",
    "https://0.0.0.0/",
    "https://10.0.0.1/",
    "https://100.64.0.1/",
    "https://168.63.129.16/",
    "https://169.254.169.254/latest/meta-data/",
    "https://172.16.0.1/",
    "https://192.168.0.1/",
    "https://192.0.0.192/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::]/",
    "https://[::1]/",
    "https://[::127.0.0.2]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[::ffff:a00:1]/",
    "https://[0:0:0:0:0:ffff:169.254.169.254]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[64:ff9b:1::10.0.0.1]/",
    "https://[2002:a00:1::]/",
    "https://[2001::1]/",
    "https://[fc00::1]/",
    "https://[fd00:ec2::254]/",
    "https://[fe80::1]/",
    "https://[ff02::1]/",
    "hooks.example.com",
  ])("%s", async (refused) => {
    await expect(create(place.owner, { url: refused })).rejects.toThrow("webhook.url: must");
  });
});

test.each([
  ['resource_path:"/orgs/acme/members/alice"', "webhook.filter: a path must have ids"],
  ['actor_path = "/orgs/acme/members/@01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b"', "webhook.filter: a path must have ids"],
  ['NOT resource_path = "/orgs/acme"', "webhook.filter: a path must have ids"],
  ["colour = 1", "webhook.filter: column 1"],
  ["type =", "webhook.filter: column"],
])("the filter %s is refused", async (filter, message) => {
  await expect(create(place.owner, { filter })).rejects.toThrow(message);
});

test("a filter with the id of a resource delivers what happens to it, whatever it is called, and that it is deleted", async () => {
  const { owner, company } = place;
  const receiver = await startReceiver();
  const [path = ""] = await place.createGroups(1);
  const { id } = await owner.groups.getGroup({ path });
  await place.createWebhook(receiver, { filter: `resource_path:"/orgs/@${company.org.id}/groups/@${id}"` });
  const name = uniqueName("renamed");
  await owner.groups.updateGroup({ path, group: { name } });
  await place.createGroups(1);
  await owner.groups.deleteGroup({ path: `${company.org.path}/groups/${name}` });
  await expect
    .poll(() => eventsOf(receiver.received).map(({ type }) => type))
    .toEqual(["group.updated", "group.deleted"]);
});

test("who may not list the changes of the org creates no webhook, and neither does a credential with limits", async () => {
  const { company, server } = place;
  const without = await joinWith(["iam.webhooks.create"]);
  await expect(create(without)).rejects.toThrow("requires iam.changes.list");
  const caller = await joinWith(["iam.webhooks.create", "iam.changes.list", "iam.apiKeys.create"]);
  await create(caller);
  const limits = [
    { scopes: ["iam.webhooks.create", "iam.changes.list"] },
    { expireTime: timestampFromDate(new Date(Date.now() + 3_600_000)) },
    { allowedAddresses: ["127.0.0.0/8"] },
  ];
  for (const limit of limits) {
    const apiKey = { name: uniqueName("key"), ...limit };
    const { secret = "" } = await company.api.apiKeys.createApiKey({ parentPath: caller.path, apiKey });
    await expect(create(createApi("gRPC", server.url, secret))).rejects.toThrow("use a credential without limits");
  }
});

test("it shows what its member may see: a resource only if the member may get it", async () => {
  const receiver = await startReceiver();
  const caller = await joinWith(["iam.webhooks.create", "iam.changes.list"]);
  await create(caller, { url: receiver.url, filter: 'resource_type = "Group"' });
  const [path] = await place.createGroups(1);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([path]);
  const [event] = eventsOf(receiver.received);
  expect(event?.data).not.toHaveProperty("after");
});

test("when its member loses its access, nothing more is sent, until somebody who has it resumes it", async () => {
  const { company, owner } = place;
  const receiver = await startReceiver();
  const caller = await company.join(uniqueName("member"));
  const binding = await company.bind(company.org.path, "owner", caller);
  const webhook = await create(caller, { url: receiver.url, filter: 'resource_type = "Group"' });
  const [first] = await place.createGroups(1);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([first]);
  await owner.roleBindings.deleteRoleBinding({ path: binding });
  const [second] = await place.createGroups(1);
  await expect
    .poll(() => owner.webhooks.getWebhook({ path: webhook.path }))
    .toMatchObject({ state: Webhook_State.DISABLED, disabledReason: Webhook_DisabledReason.ACCESS_LOST });
  expect(receiver.received).toHaveLength(1);
  await expect(caller.webhooks.resumeWebhook({ path: webhook.path })).rejects.toThrow("iam.webhooks.resume");
  const resumed = await owner.webhooks.resumeWebhook({ path: webhook.path });
  expect(resumed).toMatchObject({ state: Webhook_State.ACTIVE, memberPath: await pathWithIds(owner) });
  await expect.poll(() => pathsOf(receiver.received)).toEqual([first, second]);
});

test("who changes the URL has it deliver for itself, and it is tried at once", async () => {
  const { company } = place;
  const failing = await startReceiver(answerWith(500));
  const webhook = await place.createWebhook(failing);
  const [path] = await place.createGroups(1);
  await expect.poll(() => failing.received.length).toBe(1);
  const receiver = await startReceiver(accept);
  const other = await company.join(uniqueName("member"));
  await company.bind(company.org.path, "admin", other);
  const renamed = await other.webhooks.updateWebhook({ path: webhook.path, webhook: { displayName: "Audit" } });
  expect(renamed.memberPath).toBe(await pathWithIds(place.owner));
  const changed = await other.webhooks.updateWebhook({ path: webhook.path, webhook: { url: receiver.url } });
  expect(changed.memberPath).toBe(await pathWithIds(other));
  await expect.poll(() => pathsOf(receiver.received)).toEqual([path]);
  expect(required(failing.received[0]).headers["webhook-id"]).toBe(receiver.received[0]?.headers["webhook-id"]);
});
