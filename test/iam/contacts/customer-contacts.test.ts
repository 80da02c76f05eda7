// Contacts of customers: who reads and changes them, how they are confirmed and erased, and what becomes of them with the customer.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Change_Type } from "../../../gen/iam/v1alpha/change_pb.ts";
import { Contact_Kind as Kind } from "../../../gen/iam/v1alpha/contact_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { type Caller, type Company, openCompany } from "../../access/callers.ts";
import { linkIn, type MailServer, openBrowser, startMailServer } from "../../sign-in/invitation-place.ts";
import { createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, issuer, startTestServer } from "../../support/test-server.ts";
import { countFaults } from "./count-faults.ts";

let mailServer: MailServer;
let server: TestServer;
let other: TestServer;
let sql: SqlClient;
let company: Company;
let parentPath: string;
/** With the role owner on the customer. */
let owner: Caller;

beforeAll(async () => {
  mailServer = await startMailServer();
  const mail = { url: mailServer.url, from: "iam@example.com" };
  server = await startTestServer({ issuer, mail, invitationMailsPerHour: 3, purgeIntervalMs: 100 });
  other = await startTestServer({ issuer, databaseUrl: server.databaseUrl, limits: { Contact: 1 } });
  sql = await openSqlClient(server.databaseUrl);
  company = await openCompany("gRPC", server);
  parentPath = company.org.customerPath;
  owner = await company.join("owner");
  await company.bind(parentPath, "owner", owner);
});
afterAll(async () => {
  await sql.close();
  await other.close();
  await server.close();
  await mailServer.close();
});

/** Creates a customer with an org. */
async function newCustomer(displayName = ""): Promise<{ path: string; id: string; org: string }> {
  const { path: org, customerPath } = await company.api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const { path, id } = await company.api.customers.updateCustomer({
    path: customerPath,
    customer: { displayName },
    updateMask: { paths: ["display_name"] },
  });
  return { path, id, org };
}

const create = ({ contacts }: Pick<Caller, "contacts">, parent = parentPath, fields: object = {}) =>
  contacts.createContact({
    parentPath: parent,
    contact: {
      name: uniqueName("c"),
      email: `${uniqueName("mailbox")}@example.com`,
      kinds: [Kind.BILLING],
      ...fields,
    },
  });

const byApi = () => company.api as unknown as Pick<Caller, "contacts">;

/** Sends the link of a contact. Returns its code. */
async function send(path: string): Promise<string> {
  expect(await company.api.contacts.sendConfirmation({ path })).toMatchObject({ mailSent: true, link: "" });
  return required(linkIn(required(mailServer.mails.at(-1))).split("#")[1]);
}

const confirm = (code: string, url = server.url) =>
  openBrowser(url).post("/sign-in/contact/confirmation", { code, agreed: "yes" });

test("a contact of a customer is created, read, changed and deleted as that of an org", async () => {
  const created = await create(owner, parentPath, { name: "finance", labels: { unit: "eu" } });
  const path = `${parentPath}/contacts/finance`;
  expect(created).toMatchObject({ path, name: "finance", kinds: [Kind.BILLING] });
  const byId = `${parentPath}/contacts/@${created.id}`;
  expect(await owner.contacts.getContact({ path: byId })).toEqual(created);
  const twice = { email: created.email.toUpperCase() };
  expect(await failureOf(create(owner, parentPath, twice))).toMatchObject({ reason: "RESOURCE_EXISTS" });
  // In an org of the customer, both are free.
  const ofOrg = await create(owner, company.org.path, { name: "finance", email: created.email });

  const listed = await owner.contacts.listContacts({ parentPath, filter: 'labels.unit = "eu"' });
  expect(listed.contacts).toEqual([created]);
  expect((await owner.contacts.listContacts({ parentPath })).totalSize).toBe(1);
  const ofOrgs = await company.api.contacts.listContacts({ parentPath: "/orgs/-", pageSize: 1000 });
  const ofCustomers = await company.api.contacts.listContacts({ parentPath: "/customers/-", pageSize: 1000 });
  const idsOf = ({ contacts }: typeof ofOrgs) => contacts.map(({ id }) => id);
  expect([idsOf(ofOrgs).includes(created.id), idsOf(ofOrgs).includes(ofOrg.id)]).toEqual([false, true]);
  expect([idsOf(ofCustomers).includes(created.id), idsOf(ofCustomers).includes(ofOrg.id)]).toEqual([true, false]);
  expect(await owner.contacts.batchGetContacts({ parentPath, paths: [byId] })).toMatchObject({ contacts: [created] });
  for (const wrong of [`${company.org.path}/contacts/@${created.id}`, `${parentPath}/contacts/@${ofOrg.id}`]) {
    expect(await failureOf(owner.contacts.getContact({ path: wrong }))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  }

  const changed = await owner.contacts.updateContact({ path, contact: { kinds: [Kind.TECHNICAL] } });
  expect(changed).toMatchObject({ path, kinds: [Kind.TECHNICAL], email: created.email });
  await owner.contacts.deleteContact({ path, etag: changed.etag });
  await owner.contacts.deleteContact({ path: ofOrg.path });
  const filter = `resource_id = "${created.id}"`;
  const { changes } = await owner.changes.listChanges({ parentPath, filter, orderBy: "time" });
  expect(changes.map((each) => [each.method.split("/")[1], each.customerPath, each.orgPath])).toEqual(
    ["CreateContact", "UpdateContact", "DeleteContact"].map((method) => [method, parentPath, ""]),
  );
  expect(changes.map(({ resourcePath }) => resourcePath)).toEqual([path, path, path]);
});

test("who has every role on an org has none on the contacts of its customer, nor on those of another one", async () => {
  const { path, id } = await create(owner);
  const ofOrg = await company.joinAs("owner", "owner-of-org");
  const { path: foreign } = await newCustomer();
  const { id: foreignId } = await create(byApi(), foreign);
  const denied = { reason: "PERMISSION_DENIED" };
  for (const [caller, parent, contactId] of [
    [ofOrg, parentPath, id],
    [owner, foreign, foreignId],
  ] as const) {
    const named = `${parent}/contacts/@${contactId}`;
    expect(await failureOf(caller.contacts.getContact({ path: named }))).toMatchObject(denied);
    expect(await failureOf(caller.contacts.listContacts({ parentPath: parent }))).toMatchObject(denied);
    expect(await failureOf(create(caller, parent))).toMatchObject(denied);
    expect(await failureOf(caller.contacts.sendConfirmation({ path: named }))).toMatchObject(denied);
    expect(await failureOf(caller.contacts.deleteContact({ path: named }))).toMatchObject(denied);
    expect(await failureOf(caller.contacts.eraseContact({ path: named }))).toMatchObject(denied);
  }
  await owner.contacts.deleteContact({ path });
});

test("an address is confirmed by the page that names the customer, once on two servers at once", async () => {
  const { path: customer } = await newCustomer("Acme Holding");
  const { path, id, email } = await create(byApi(), customer, { kinds: [Kind.BILLING, Kind.TECHNICAL] });
  const code = await send(path);
  const mail = required(mailServer.mails.at(-1));
  const name = required(customer.split("/")[2]);
  expect(mail).toMatchObject({ to: [email], subject: "Confirm the contact of Acme Holding" });
  expect(mail.text).toContain(`The customer is ${name}. It would be sent warnings about: billing, technical matters.`);
  expect(mail.text.match(/https?:\S+/g)).toEqual([linkIn(mail)]);
  const shown = await openBrowser(server.url).open(linkIn(mail));
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining(`<code>${customer}</code>`)]);

  const answers = await Promise.all([server.url, other.url, server.url, other.url].map((url) => confirm(code, url)));
  expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["200", "400", "400", "400"]);
  expect((await company.api.contacts.getContact({ path })).confirmTime).toBeDefined();
  const filter = `resource_id = "${id}"`;
  const { changes } = await company.api.changes.listChanges({ parentPath: customer, filter });
  expect(changes.map(({ method, actorPath }) => [method, actorPath === ""])).toEqual([
    ["tenantry/confirm-contact", true],
    ["iam.v1alpha.ContactsService/SendConfirmation", false],
    ["iam.v1alpha.ContactsService/CreateContact", false],
  ]);
});

test("a customer has so many contacts of its own, and the error beyond them names it", async () => {
  const { path: customer, org } = await newCustomer();
  const api = createApi("gRPC", other.url, server.operatorKey);
  for (const parent of [customer, org]) {
    await create(api, parent);
    expect(await failureOf(create(api, parent))).toMatchObject({
      reason: "LIMIT_EXCEEDED",
      metadata: { resource: parent, limit: "1" },
    });
  }
});

test("a customer sends as many confirmations in an hour as an org, apart from those of its orgs", async () => {
  const { path: customer, org } = await newCustomer();
  for (let sent = 0; sent < 3; sent++) await send((await create(byApi(), customer)).path);
  const { path } = await create(byApi(), customer);
  expect(await failureOf(company.api.contacts.sendConfirmation({ path }))).toMatchObject({
    reason: "RATE_LIMITED",
    message: expect.stringContaining("a customer sends at most 3 confirmations an hour") as string,
  });
  await send((await create(byApi(), org)).path);
});

test("a deleted contact is erased from the log of the customer, whose proofs hold, and what was answered to the platform stays", async () => {
  const word = uniqueName("liddell");
  const email = `${word}@example.com`;
  const contact = { name: word, displayName: word, labels: { who: word }, email, kinds: [Kind.SECURITY] };
  const requestId = crypto.randomUUID();
  const { path, id } = await owner.contacts.createContact({ parentPath, contact, requestId });
  // One of the platform changes it, and something else whose text has its id.
  await company.api.contacts.updateContact({ path, contact: { description: "seen" } });
  const org = { description: id };
  const ofPlatform = { path: company.org.path, org, requestId: crypto.randomUUID() };
  const answer = await company.api.orgs.updateOrg(ofPlatform);
  await company.api.orgs.updateOrg({ path: company.org.path, org: { description: "" } });
  const byId = `${parentPath}/contacts/@${id}`;
  expect(await failureOf(owner.contacts.eraseContact({ path: byId }))).toMatchObject({ reason: "STATE_FORBIDS" });
  await owner.contacts.deleteContact({ path });
  expect(await sql.tablesWith(word)).toContain("changes");
  const kept = "select from write_requests where position(convert_to($1, 'UTF8') in answer) > 0";
  expect(await sql.query(kept, [word])).toHaveLength(1);
  expect(await failureOf(owner.contacts.eraseContact({ path }))).toMatchObject({
    reason: "FIELD_INVALID",
    message: expect.stringContaining("customers/acme/contacts/@<id>") as string,
  });
  const elsewhere = `${company.org.path}/contacts/@${id}`;
  expect(await failureOf(owner.contacts.eraseContact({ path: elsewhere }))).toMatchObject({
    reason: "RESOURCE_NOT_FOUND",
  });
  expect(await owner.contacts.eraseContact({ path: byId })).toMatchObject({ changeCount: 3 });
  expect((await sql.tablesWith(word)).filter((table) => table !== "access_events")).toEqual([]);
  expect(await sql.query(kept, [word])).toEqual([]);
  expect(await company.api.orgs.updateOrg(ofPlatform)).toEqual(answer);
  const filter = `resource_id = "${id}"`;
  const { changes } = await owner.changes.listChanges({ parentPath, filter, orderBy: "time" });
  expect(changes.map(({ type }) => type).at(-1)).toBe(Change_Type.ERASED);
  expect(changes.at(-1)?.resourcePath).toBe(byId);
  expect(await countFaults(owner.changes, parentPath)).toBe(0);
});

test("contacts of a deleted customer cannot be changed or confirmed, come back with it, and go with its purge", async () => {
  const { path: customer, id } = await newCustomer();
  const { path, id: contactId } = await create(byApi(), customer, { labels: { unit: "eu" } });
  const code = await send(path);
  await company.api.customers.deleteCustomer({ path: customer, force: true });
  const deleted = `/customers/@${id}`;
  const named = `${deleted}/contacts/@${contactId}`;
  const { contacts } = company.api;
  const refused = await Promise.all([
    failureOf(create(byApi(), deleted)),
    failureOf(contacts.updateContact({ path: named, contact: { description: "x" } })),
    failureOf(contacts.sendConfirmation({ path: named })),
    failureOf(contacts.deleteContact({ path: named })),
    failureOf(contacts.eraseContact({ path: `${deleted}/contacts/@${crypto.randomUUID()}` })),
  ]);
  expect(refused).toEqual(refused.map(() => expect.objectContaining({ reason: "STATE_FORBIDS" }) as object));
  expect((await confirm(code)).status).toBe(400);
  await company.api.customers.undeleteCustomer({ path: deleted });
  expect((await company.api.contacts.getContact({ path })).confirmTime).toBeUndefined();
  expect((await confirm(code)).status).toBe(200);

  await company.api.customers.deleteCustomer({ path: customer, force: true });
  await company.api.customers.purgeCustomer({ path: deleted });
  await expect.poll(() => sql.query("select from customers where id = $1", [id])).toEqual([]);
  for (const table of ["contacts", "contact_links", "resource_labels", "resource_counts"]) {
    expect(await sql.query(`select from ${table} where org_id = $1`, [id])).toEqual([]);
  }
});
