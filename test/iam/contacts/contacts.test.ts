// Contacts as resources, and their erasure from the log.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Change_Type } from "../../../gen/iam/v1alpha/change_pb.ts";
import { Contact_Kind as Kind } from "../../../gen/iam/v1alpha/contact_pb.ts";
import { type Caller, type Company, openCompany } from "../../access/callers.ts";
import { uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { countFaults } from "./count-faults.ts";

let server: TestServer;
let sql: SqlClient;
let company: Company;
let owner: Caller;
let parentPath: string;

beforeAll(async () => {
  server = await startTestServer();
  sql = await openSqlClient(server.databaseUrl);
  company = await openCompany("gRPC", server);
  owner = await company.joinAs("owner");
  parentPath = company.org.path;
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

const create = (contact: object, { contacts }: Pick<Caller, "contacts"> = owner) =>
  contacts.createContact({
    parentPath,
    contact: {
      name: uniqueName("c"),
      email: `${uniqueName("mailbox")}@example.com`,
      kinds: [Kind.BILLING],
      ...contact,
    },
  });

test.each([
  ["none", []],
  ["an unspecified one", [Kind.KIND_UNSPECIFIED]],
  ["one twice", [Kind.BILLING, Kind.BILLING]],
  ["an unknown one", [9]],
])("a contact is for kinds: %s is refused", async (_name, kinds) => {
  expect(await failureOf(create({ kinds }))).toMatchObject({ reason: "FIELD_INVALID" });
});

test("an address is that of one contact of an org, in any case, and of any in another org", async () => {
  const { email } = await create({ email: `Shared.${uniqueName("box")}@example.com` });
  expect(await failureOf(create({ email: email.toUpperCase() }))).toMatchObject({ reason: "RESOURCE_EXISTS" });
  const filter = `email = "${email.toLowerCase()}"`;
  expect((await owner.contacts.listContacts({ parentPath, filter })).contacts.map((each) => each.email)).toEqual([
    email,
  ]);
  const elsewhere = await company.api.orgs.createOrg({ org: { name: uniqueName("other") } });
  await company.api.contacts.createContact({
    parentPath: elsewhere.path,
    contact: { name: "c", email, kinds: [Kind.BILLING] },
  });
  expect(await failureOf(owner.contacts.listContacts({ parentPath: elsewhere.path }))).toMatchObject({
    reason: "PERMISSION_DENIED",
  });
});

test("nobody sets when an address was confirmed", async () => {
  const confirmTime = { seconds: 1n, nanos: 0 };
  const { path, confirmTime: shown } = await create({ confirmTime });
  expect(shown).toBeUndefined();
  const updated = await owner.contacts.updateContact({
    path,
    contact: { confirmTime, description: "x" },
    updateMask: { paths: ["confirm_time", "description"] },
  });
  expect([updated.confirmTime, updated.description]).toEqual([undefined, "x"]);
});

test("a deleted contact is erased from the log, whose proofs hold", async () => {
  const word = uniqueName("liddell");
  const { path, id } = await create({
    name: word,
    displayName: word,
    description: word,
    labels: { who: word },
    email: `${word}@example.com`,
  });
  await owner.contacts.updateContact({ path, contact: { description: `${word} again` } });
  const byId = `${parentPath}/contacts/@${id}`;
  expect(await failureOf(owner.contacts.eraseContact({ path: byId }))).toMatchObject({ reason: "STATE_FORBIDS" });
  await owner.contacts.deleteContact({ path, requestId: crypto.randomUUID() });
  expect(await sql.tablesWith(word)).toContain("changes");
  const admin = await company.joinAs("admin");
  expect(await failureOf(admin.contacts.eraseContact({ path: byId }))).toMatchObject({ reason: "PERMISSION_DENIED" });
  const byName = await failureOf(owner.contacts.eraseContact({ path }));
  expect(byName).toMatchObject({ reason: "FIELD_INVALID", fields: ["path"] });

  expect(await owner.contacts.eraseContact({ path: byId, validateOnly: true })).toMatchObject({ changeCount: 3 });
  expect(await sql.tablesWith(word)).toContain("changes");
  expect(await owner.contacts.eraseContact({ path: byId })).toMatchObject({ changeCount: 3 });
  expect((await sql.tablesWith(word)).filter((table) => table !== "access_events")).toEqual([]);

  const { changes } = await owner.changes.listChanges({ parentPath, filter: `resource_id = "${id}"` });
  expect(changes.map(({ type }) => type)).toEqual([
    Change_Type.ERASED,
    Change_Type.DELETED,
    Change_Type.UPDATED,
    Change_Type.CREATED,
  ]);
  expect(await countFaults(owner.changes, parentPath)).toBe(0);
  const unknown = `${parentPath}/contacts/@${crypto.randomUUID()}`;
  expect(await failureOf(owner.contacts.eraseContact({ path: unknown }))).toMatchObject({
    reason: "RESOURCE_NOT_FOUND",
  });
});

test.each(["\n", "\r\nBcc: x", "\0"])("what invoices name is on one line, without %j", async (end) => {
  const changed = company.api.orgs.updateOrg({ path: parentPath, org: { legalName: `Acme${end}` } });
  expect(await failureOf(changed)).toMatchObject({ reason: "FIELD_INVALID", fields: ["org.legal_name"] });
});

test("what invoices name is kept by an org and its customer, and can be emptied", async () => {
  const names = { legalName: "Grüße & Söhne GmbH", billingReference: "PO-4711" };
  const { path, customerPath } = await company.api.orgs.createOrg({ org: { name: uniqueName("org"), ...names } });
  expect(await company.api.orgs.getOrg({ path })).toMatchObject(names);
  const customer = await company.api.customers.getCustomer({ path: customerPath });
  expect([customer.legalName, customer.billingReference]).toEqual(["", ""]);
  await company.api.customers.updateCustomer({ path: customerPath, customer: names });
  expect(await company.api.customers.getCustomer({ path: customerPath })).toMatchObject(names);
  const emptied = await company.api.orgs.updateOrg({ path, org: {}, updateMask: { paths: ["legal_name"] } });
  expect([emptied.legalName, emptied.billingReference]).toEqual(["", "PO-4711"]);
});
