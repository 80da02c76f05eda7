// Who is warned of what, through a real mail server.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccessRequestsService } from "../../gen/iam/v1alpha/access_request_pb.ts";
import { Contact_Kind as Kind } from "../../gen/iam/v1alpha/contact_pb.ts";
import { EventStream_State } from "../../gen/iam/v1alpha/event_stream_pb.ts";
import { type Webhook, Webhook_State } from "../../gen/iam/v1alpha/webhook_pb.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { type Mailer, createMailer } from "../../src/identity/outgoing/mailer.ts";
import { createWarningsJob } from "../../src/jobs/warnings-job.ts";
import { answerWith, startReceiver, webhookNetworks } from "../events/webhooks/receiver.ts";
import { type MailServer, type ReceivedMail, startMailServer } from "../sign-in/invitation-place.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";

let mailServer: MailServer;
let mailer: Mailer;
let server: TestServer;
let database: Database;
let sql: SqlClient;
let api: Api;

const silent = pino({ enabled: false });

beforeAll(async () => {
  mailServer = await startMailServer();
  mailer = createMailer({ url: mailServer.url, from: "iam@example.com" }, silent);
  // It sends no mail itself: the jobs of the tests are the only ones that warn.
  server = await startTestServer({ issuer, webhookNetworks });
  database = openDatabase({
    connection: { connectionString: server.databaseUrl },
    maxReadConnections: 2,
    maxWriteConnections: 2,
    onConnectionError: () => {},
  });
  sql = await openSqlClient(server.databaseUrl);
  api = createApi("gRPC", server.url, server.operatorKey);
});
afterAll(async () => {
  mailer.close();
  await sql.close();
  await database.close();
  await server.close();
  await mailServer.close();
});

/** Runs the job as each of some servers, at once. Returns the mails that came of it, by the names of contacts. */
async function warn(servers = 1): Promise<Map<string, ReceivedMail>> {
  const before = mailServer.mails.length;
  const jobs = Array.from({ length: servers }, () =>
    createWarningsJob({ database, mailer, issuer: () => issuer, logger: silent }),
  );
  const sent = await Promise.all(jobs.map((job) => job.runOnce()));
  await Promise.all(jobs.map((job) => job.close()));
  const mails = mailServer.mails.slice(before);
  expect(mails).toHaveLength(sent.reduce((sum, each) => sum + each, 0));
  const byName = new Map(mails.map((mail) => [required(mail.to[0]).split("@")[0] ?? "", mail]));
  expect(byName.size).toBe(mails.length);
  return byName;
}

interface Place {
  readonly org: string;
  readonly id: string;
  readonly member: string;
}

/** Creates an org with a member, and a confirmed contact for each kind and an unconfirmed one for all, which are called so. */
async function openPlace(): Promise<Place> {
  const { path: org, id } = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
  const { path: member } = await api.members.createMember({ parentPath: org, member: { name: "alice" } });
  await addContacts(org, id);
  return { org, id, member };
}

/** Creates a confirmed contact of an org or a customer for each kind and an unconfirmed one for all, which are called so. */
async function addContacts(parentPath: string, id: string): Promise<void> {
  const contacts = [
    { name: "billing", kinds: [Kind.BILLING] },
    { name: "security", kinds: [Kind.SECURITY] },
    { name: "technical", kinds: [Kind.TECHNICAL] },
    { name: "unconfirmed", kinds: [Kind.BILLING, Kind.SECURITY, Kind.TECHNICAL] },
  ].map((each) => ({ contact: { ...each, email: `${each.name}@${parentPath.split("/")[2]}.example` } }));
  await api.contacts.batchCreateContacts({ parentPath, requests: contacts });
  await sql.query("update contacts set confirm_time = now() where org_id = $1 and name <> 'unconfirmed'", [id]);
}

/** Creates an API key that was made a while ago. */
async function addKey(
  { member }: Pick<Place, "member">,
  name: string,
  daysAgo: number,
  daysLeft: number,
): Promise<string> {
  const { id } = await api.apiKeys.createApiKey({ parentPath: member, apiKey: { name } });
  await sql.query(
    `update api_keys set create_time = now() - make_interval(days => $2), expire_time = now() + make_interval(days => $3)
      where id = $1`,
    [id, daysAgo, daysLeft],
  );
  return id;
}

/** As if so many hours had passed since the mails before. */
const passHours = (hours: number) =>
  sql.query("update contact_warnings set attempt_time = attempt_time - make_interval(hours => $1)", [hours]);

/** Waits until a receiver has refused for good what a webhook delivers: that something was written. */
async function waitUntilDisabled({ org }: Pick<Place, "org">, { path }: Pick<Webhook, "path">): Promise<void> {
  await api.groups.createGroup({ parentPath: org, group: { name: uniqueName("group") } });
  await expect.poll(async () => (await api.webhooks.getWebhook({ path })).state).toBe(Webhook_State.DISABLED);
}

/** When the log says that something came into its state, as mails say it. The row says that it was changed since. */
async function minuteOfState(table: "event_streams" | "orgs" | "webhooks", id: string): Promise<string> {
  const [entry] = await sql.query(
    `select time from changes where resource_id = $1 and before ->> 'state' <> after ->> 'state' order by time desc limit 1`,
    [id],
  );
  await sql.query(`update ${table} set update_time = update_time + interval '3 hours' where id = $1`, [id]);
  return minuteOf(required(entry)["time"] as Date);
}

const minuteOf = (time: Date): string => `${time.toISOString().slice(0, 16).replace("T", " at ")} UTC`;

/** Leaves nothing to be warned of in a place. */
const end = ({ org }: Place) =>
  sql.query("update contacts set confirm_time = null from orgs where orgs.id = org_id and orgs.name = $1", [
    org.split("/")[2],
  ]);

test("technical contacts are warned of API keys that end, once, and of another end again", async () => {
  const place = await openPlace();
  const id = await addKey(place, "laptop", 30, 3);
  await addKey(place, "short", 2, 3);
  await addKey(place, "later", 30, 30);
  await addKey(place, "over", 30, -1);
  const replaced = await addKey(place, "replaced", 30, 3);
  const replacing = await addKey(place, "replacing", 0, 300);
  await sql.query("update api_keys set rotated_from_id = $1 where id = $2", [replaced, replacing]);

  const mails = await warn();
  expect([...mails.keys()]).toEqual(["technical"]);
  const { subject, text } = required(mails.get("technical"));
  const name = required(place.org.split("/")[2]);
  expect(subject).toBe(`${name}: an API key ends`);
  expect(text.match(/^- .*$/gm)).toEqual([
    expect.stringMatching(/^- The API key laptop of the member alice ends on \d{4}-\d\d-\d\d at \d\d:\d\d UTC\./),
  ]);
  expect(text.match(/https?:\S+/g)).toEqual([`${issuer}/console/orgs/${name}/account`]);

  await passHours(2);
  expect((await warn()).size).toBe(0);
  await sql.query("update api_keys set expire_time = now() + interval '2 days' where id = $1", [id]);
  expect([...(await warn()).keys()]).toEqual(["technical"]);
  await end(place);
});

/** Makes a place in which its member may begin access without a decision, and returns what begins it. */
async function openEmergency() {
  const place = await openPlace();
  const { org, member } = place;
  const emergency = { name: "emergency", permissions: ["iam.accessRequests.breakGlass"] };
  const { path: rolePath } = await api.roles.createRole({ parentPath: org, role: emergency });
  await api.roleBindings.createRoleBinding({
    parentPath: org,
    roleBinding: { name: "may", rolePath, subjectPath: member },
  });
  const owner = await api.members.createMember({ parentPath: org, member: { name: "owner" } });
  const owns = { name: "owns", rolePath: "/roles/owner", subjectPath: owner.path };
  await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding: owns });
  const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: member, apiKey: { name: "key" } });
  const asking = createClient(AccessRequestsService, createApi("gRPC", server.url, secret).transport);
  const expireTime = timestampFromDate(new Date(Date.now() + 3_600_000));
  const accessRequest = { rolePath: "/roles/viewer", resourcePath: org, reason: "All is down", expireTime };
  const begin = (breakGlass = true) =>
    asking.createAccessRequest({ parentPath: org, accessRequest: { ...accessRequest, breakGlass } });
  return { place, begin };
}

test("security contacts hear of access that began without a decision, also if they got a mail in the last hour", async () => {
  const { place, begin } = await openEmergency();
  await begin(false);
  expect((await warn()).size).toBe(0);
  for (const count of [1, 2]) {
    await begin();
    const mails = await warn(2);
    expect([count, ...mails.keys()]).toEqual([count, "security"]);
    const { subject, text } = required(mails.get("security"));
    expect(subject).toMatch(/: access has begun without a decision$/);
    expect(text.match(/^- .*$/gm)).toEqual([
      expect.stringMatching(/^- The member alice began access in an emergency on /),
    ]);
  }
  // Such a mail keeps no other one back.
  await api.orgs.suspendOrg({ path: place.org });
  expect([...(await warn()).keys()].toSorted()).toEqual(["billing", "security", "technical"]);
  await end(place);
});

test("who was to hear of access when it began does so, whatever becomes of the contact and of the names, once", async () => {
  const { place, begin } = await openEmergency();
  const { org, id, member } = place;
  await begin();
  await api.members.updateMember({ path: member, member: { name: "bob" } });
  const contacts = (await api.contacts.listContacts({ parentPath: org })).contacts.map(({ path }) => path);
  for (const path of contacts) await api.contacts.deleteContact({ path });
  const mails = await warn(3);
  expect([...mails.keys()]).toEqual(["security"]);
  expect(required(mails.get("security")).text).toContain("The member alice began access in an emergency on ");
  await passHours(2);
  expect((await warn()).size).toBe(0);
  const kept = await sql.query("select email, contact_name, subject_name from contact_warnings where org_id = $1", [
    id,
  ]);
  expect(kept).toEqual([{ email: null, contact_name: null, subject_name: null }]);
});

test("of several servers one sends a warning, and a contact gets one mail an hour", async () => {
  const place = await openPlace();
  await addKey(place, "first", 30, 3);
  expect([...(await warn(4)).keys()]).toEqual(["technical"]);
  await addKey(place, "second", 30, 3);
  await addKey(place, "third", 30, 3);
  expect((await warn(2)).size).toBe(0);
  await passHours(2);
  const { subject, text } = required((await warn(4)).get("technical"));
  expect(subject).toMatch(/: 2 warnings$/);
  expect(text.match(/The API key \w+/g)?.toSorted()).toEqual(["The API key second", "The API key third"]);
  await end(place);
});

test("a mail that the server refuses is tried again an hour later, five times", async () => {
  const place = await openPlace();
  const address = `technical@${place.org.split("/")[2]}.example`;
  mailServer.refused.add(address);
  await addKey(place, "laptop", 30, 3);
  for (let attempt = 1; attempt <= 6; attempt++) {
    expect((await warn()).size).toBe(0);
    expect((await warn()).size).toBe(0);
    const [row] = await sql.query("select attempts, is_sent from contact_warnings where org_id = $1", [place.id]);
    expect(row).toEqual({ attempts: Math.min(attempt, 5), is_sent: false });
    await passHours(2);
  }
  mailServer.refused.delete(address);
  expect((await warn()).size).toBe(0);
  await sql.query("delete from contact_warnings where org_id = $1", [place.id]);
  expect([...(await warn()).keys()]).toEqual(["technical"]);
  await end(place);
});

test("of more than 20 keys that end, the others are in the next mails", async () => {
  const place = await openPlace();
  const names = Array.from({ length: 45 }, (_, index) => `key-${index}`);
  const requests = names.map((name) => ({ apiKey: { name } }));
  await api.apiKeys.batchCreateApiKeys({ parentPath: place.member, requests });
  await sql.query(
    `update api_keys set create_time = now() - interval '30 days', expire_time = now() + interval '3 days' where org_id = $1`,
    [place.id],
  );
  const told: string[][] = [];
  for (let mail = 1; mail <= 3; mail++) {
    const { text } = required((await warn()).get("technical"));
    told.push([...text.matchAll(/The API key (\S+)/g)].map(([, name = ""]) => name));
    await passHours(2);
  }
  expect(told.map((each) => each.length)).toEqual([20, 20, 5]);
  expect(told.flat().toSorted()).toEqual(names.toSorted());
  expect((await warn()).size).toBe(0);
  await end(place);
});

test("contacts are warned of what is disabled, by their kinds, once for each time that it is", async () => {
  const place = await openPlace();
  const { org: parentPath } = place;
  const { url } = await startReceiver(answerWith(410));
  const stream = await api.eventStreams.createEventStream({
    parentPath,
    eventStream: { name: "gateway", audience: "https://gateway.example.com", pushUrl: url },
  });
  const hook = await api.webhooks.createWebhook({ parentPath, webhook: { name: "hook", url } });
  await waitUntilDisabled(place, hook);
  const hookTime = await minuteOfState("webhooks", hook.id);
  const ofHook = await warn();
  expect([...ofHook.keys()]).toEqual(["technical"]);
  expect(required(ofHook.get("technical")).text).toContain(`The webhook hook delivers nothing since ${hookTime}.`);

  await passHours(2);
  await api.eventStreams.verifyEventStream({ path: stream.path, state: "try" });
  await expect
    .poll(async () => (await api.eventStreams.getEventStream({ path: stream.path })).state)
    .toBe(EventStream_State.DISABLED);
  const streamTime = await minuteOfState("event_streams", stream.id);
  const ofStream = await warn();
  expect([...ofStream.keys()].toSorted()).toEqual(["security", "technical"]);
  for (const { text } of ofStream.values()) {
    expect(text.match(/^- .*$/gm)).toEqual([
      expect.stringContaining(`The event stream gateway sends no signals since ${streamTime}.`),
    ]);
  }

  await passHours(2);
  await api.webhooks.updateWebhook({ path: hook.path, webhook: { description: "of the finance department" } });
  await api.eventStreams.updateEventStream({ path: stream.path, eventStream: { description: "of the gateway" } });
  expect((await warn()).size).toBe(0);
  await api.webhooks.resumeWebhook({ path: hook.path });
  await waitUntilDisabled(place, hook);
  expect([...(await warn()).keys()]).toEqual(["technical"]);
  await end(place);
});

test("contacts of all kinds are warned of the suspension and of the end of the org, once", async () => {
  const place = await openPlace();
  const { org, id } = place;
  await api.orgs.suspendOrg({ path: org });
  const suspendTime = await minuteOfState("orgs", id);
  const ofOrg = await warn();
  expect([...ofOrg.keys()].toSorted()).toEqual(["billing", "security", "technical"]);
  const { subject, text } = required(ofOrg.get("billing"));
  expect(subject).toMatch(/: the org is suspended$/);
  expect(text).toContain(`The org is suspended since ${suspendTime}:`);

  await passHours(2);
  await sql.query("update orgs set update_time = update_time + interval '1 hour' where id = $1", [id]);
  expect((await warn()).size).toBe(0);
  await sql.query("update orgs set delete_time = now(), purge_time = now() + interval '30 days' where id = $1", [id]);
  const ofEnd = await warn();
  expect([...ofEnd.keys()].toSorted()).toEqual(["billing", "security", "technical"]);
  const { purge_time: time } = required((await sql.query("select purge_time from orgs where id = $1", [id]))[0]);
  expect(required(ofEnd.get("billing")).text).toContain(`Until ${minuteOf(time as Date)} it can be restored`);
  await passHours(2);
  expect((await warn()).size).toBe(0);
  await sql.query("update orgs set delete_time = null, purge_time = null where id = $1", [id]);
  expect((await warn()).size).toBe(0);
  await end(place);
});

/** Creates a customer with contacts and two orgs, which have none. */
async function openCustomer(): Promise<{ path: string; id: string; one: string; two: string; twoId: string }> {
  const { path: one, customerPath } = await api.orgs.createOrg({ org: { name: uniqueName("one") } });
  const { path: two, id: twoId } = await api.orgs.createOrg({ org: { name: uniqueName("two"), customerPath } });
  const { path, id } = await api.customers.getCustomer({ path: customerPath });
  await addContacts(path, id);
  return { path, id, one, two, twoId };
}

const endOf = (customerId: string) =>
  sql.query("update contacts set confirm_time = null where parent_customer_id = $1", [customerId]);

test("contacts of a customer are warned of its webhooks, and of orgs of it that are suspended or deleted", async () => {
  const { path: parentPath, id, one, two, twoId } = await openCustomer();
  await addKey({ member: (await newMember(one)).path }, "of-an-org", 30, 3);
  expect((await warn()).size).toBe(0);
  const { url } = await startReceiver(answerWith(410));
  const hook = await api.webhooks.createWebhook({ parentPath, webhook: { name: "hook", url } });
  await waitUntilDisabled({ org: one }, hook);
  const hookTime = await minuteOfState("webhooks", hook.id);
  const ofHook = await warn();
  expect([...ofHook.keys()]).toEqual(["technical"]);
  const { subject, text } = required(ofHook.get("technical"));
  const [name, orgName] = [parentPath, two].map((path) => required(path.split("/")[2]));
  expect(subject).toBe(`${name}: a webhook is disabled`);
  expect(text).toContain(`The webhook hook delivers nothing since ${hookTime}.`);
  expect(text.match(/https?:\S+/g)).toEqual([`${issuer}/console/customers/${name}?tab=account`]);

  await passHours(2);
  await api.orgs.suspendOrg({ path: two });
  const suspendTime = await minuteOfState("orgs", twoId);
  const suspended = await warn(2);
  expect([...suspended.keys()].toSorted()).toEqual(["billing", "security", "technical"]);
  expect(required(suspended.get("billing"))).toMatchObject({
    subject: `${name}: an org is suspended`,
    text: expect.stringContaining(`The org ${orgName} is suspended since ${suspendTime}:`) as string,
  });

  await passHours(2);
  expect((await warn()).size).toBe(0);
  await api.orgs.activateOrg({ path: two });
  await api.orgs.deleteOrg({ path: two });
  const deleted = await warn();
  expect([...deleted.keys()].toSorted()).toEqual(["billing", "security", "technical"]);
  expect(required(deleted.get("security")).text).toMatch(
    new RegExp(`The org ${orgName} was deleted on .* Until .* UTC`),
  );
  await passHours(2);
  expect((await warn()).size).toBe(0);
  await endOf(id);
});

const newMember = (org: string) => api.members.createMember({ parentPath: org, member: { name: "alice" } });

test("the end of a customer is one warning for its contacts, and not one for each of its orgs", async () => {
  const { path, id } = await openCustomer();
  await api.customers.deleteCustomer({ path, force: true });
  const mails = await warn();
  expect([...mails.keys()].toSorted()).toEqual(["billing", "security", "technical"]);
  const { subject, text } = required(mails.get("billing"));
  expect(subject).toMatch(/: the customer is deleted$/);
  expect(text.match(/^- .*$/gm)).toEqual([
    expect.stringMatching(/^- The customer was deleted on .* UTC, with its orgs\. Until .* UTC it can be restored;/),
  ]);
  await passHours(2);
  expect((await warn()).size).toBe(0);
  await endOf(id);
});
