// How an address of a contact is confirmed, through a real mail server, on two servers.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Contact_Kind as Kind } from "../../../gen/iam/v1alpha/contact_pb.ts";
import { required } from "../../../src/errors/required.ts";
import {
  type MailServer,
  type ReceivedMail,
  linkIn,
  openBrowser,
  startMailServer,
} from "../../sign-in/invitation-place.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, issuer, startTestServer } from "../../support/test-server.ts";

let mailServer: MailServer;
let server: TestServer;
let other: TestServer;
let sql: SqlClient;
let api: Api;

beforeAll(async () => {
  mailServer = await startMailServer();
  const mail = { url: mailServer.url, from: "iam@example.com" };
  server = await startTestServer({ issuer, mail, invitationMailsPerHour: 4 });
  other = await startTestServer({ issuer, databaseUrl: server.databaseUrl });
  sql = await openSqlClient(server.databaseUrl);
  api = createApi("gRPC", server.url, server.operatorKey);
});
afterAll(async () => {
  await sql.close();
  await other.close();
  await server.close();
  await mailServer.close();
});

const newOrg = async (displayName = ""): Promise<string> =>
  (await api.orgs.createOrg({ org: { name: uniqueName("org"), displayName } })).path;

const newAddress = (): string => `${uniqueName("finance")}@example.com`;

async function createContact(parentPath: string, email = newAddress(), kinds = [Kind.BILLING]) {
  return api.contacts.createContact({ parentPath, contact: { name: uniqueName("finance"), email, kinds } });
}

/** Creates a contact, and sends its link. */
async function sendTo(org: string, email?: string): Promise<{ path: string; id: string; mail: ReceivedMail }> {
  const { path, id } = await createContact(org, email);
  expect(await api.contacts.sendConfirmation({ path })).toMatchObject({ mailSent: true, link: "", mailProblem: "" });
  return { path, id, mail: required(mailServer.mails.at(-1)) };
}

const codeIn = (mail: ReceivedMail): string => required(linkIn(mail).split("#")[1]);
const confirmPath = "/sign-in/contact/confirmation";
const confirm = (code: string, url = server.url) => openBrowser(url).post(confirmPath, { code, agreed: "yes" });
const confirmTimeOf = async (path: string) => (await api.contacts.getContact({ path })).confirmTime;

describe("an address", () => {
  test("is confirmed by the second form alone, and once", async () => {
    const org = await newOrg("Acme, Inc");
    const { path, id, mail } = await sendTo(org, "Bob.O'Neil+x@example.com");
    expect(mail).toMatchObject({ from: "iam@example.com", to: ["Bob.O'Neil+x@example.com"] });
    expect(mail.subject).toBe("Confirm the contact of Acme, Inc");
    expect(mail.text).toContain("Acme, Inc names this address as its contact at iam.example.com.");
    expect(mail.text.match(/https?:\S+/g)).toEqual([linkIn(mail)]);
    expect(linkIn(mail)).toMatch(/^https:\/\/iam\.example\.com\/sign-in\/contact#[\w-]{75}$/);
    expect(server.logLines.join("")).not.toContain(codeIn(mail));

    const shown = await openBrowser(server.url).open(linkIn(mail));
    expect(shown.status).toBe(200);
    expect(shown.text).toContain("<bdi>Acme, Inc</bdi>");
    expect(shown.text).toContain("It gets warnings about</dt><dd>billing</dd>");
    const browser = openBrowser(server.url);
    const code = codeIn(mail);
    expect((await browser.post(confirmPath, { code })).status).toBe(400);
    expect((await browser.post(confirmPath, { code, agreed: "yes" }, { "sec-fetch-site": "cross-site" })).status).toBe(
      400,
    );
    expect((await browser.get(`${confirmPath}?code=${code}&agreed=yes`)).status).toBe(405);
    expect(await confirmTimeOf(path)).toBeUndefined();

    const confirmed = await confirm(code);
    expect([confirmed.status, confirmed.text]).toEqual([200, expect.stringContaining("is a confirmed contact of")]);
    expect(await confirmTimeOf(path)).toBeDefined();
    const again = await confirm(code);
    expect([again.status, again.text]).toEqual([400, expect.stringContaining("confirmed already")]);
    expect(await failureOf(api.contacts.sendConfirmation({ path }))).toMatchObject({ reason: "STATE_FORBIDS" });

    const { changes } = await api.changes.listChanges({ parentPath: org, filter: `resource_id = "${id}"` });
    expect(changes.map(({ method, actorPath }) => [method, actorPath === ""])).toEqual([
      ["tenantry/confirm-contact", true],
      ["iam.v1alpha.ContactsService/SendConfirmation", false],
      ["iam.v1alpha.ContactsService/CreateContact", false],
    ]);
  });

  test("is confirmed once on two servers at once", async () => {
    const { mail, id } = await sendTo(await newOrg());
    const answers = await Promise.all(
      [server.url, other.url, server.url, other.url].map((url) => confirm(codeIn(mail), url)),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["200", "400", "400", "400"]);
    const [row] = await sql.query(
      "select count(*)::int as n from changes where resource_id = $1 and method = 'tenantry/confirm-contact'",
      [id],
    );
    expect(row).toEqual({ n: 1 });
  });

  test("that is changed is unconfirmed, unless the same is written in another way", async () => {
    const { path, mail } = await sendTo(await newOrg(), "Finance@example.com");
    expect((await confirm(codeIn(mail))).status).toBe(200);
    await api.contacts.updateContact({ path, contact: { email: "finance@EXAMPLE.com" } });
    expect(await confirmTimeOf(path)).toBeDefined();
    await api.contacts.updateContact({ path, contact: { kinds: [Kind.TECHNICAL, Kind.BILLING] } });
    expect(await api.contacts.getContact({ path })).toMatchObject({ kinds: [Kind.BILLING, Kind.TECHNICAL] });
    expect(await confirmTimeOf(path)).toBeDefined();
    await api.contacts.updateContact({ path, contact: { email: newAddress() } });
    expect(await confirmTimeOf(path)).toBeUndefined();
  });
});

describe("a link cannot be used", () => {
  test.each<[string, (sent: { path: string; org: string }) => Promise<unknown>]>([
    [
      "after another one was made",
      async ({ path }) => {
        // As if a minute had passed.
        await sql.query("update contact_links set send_time = send_time - interval '2 minutes'");
        await api.contacts.sendConfirmation({ path });
      },
    ],
    [
      "after the address has changed",
      ({ path }) => api.contacts.updateContact({ path, contact: { email: newAddress() } }),
    ],
    [
      "after the address has changed and come back",
      async ({ path }) => {
        const { email } = await api.contacts.getContact({ path });
        await api.contacts.updateContact({ path, contact: { email: newAddress() } });
        await api.contacts.updateContact({ path, contact: { email } });
      },
    ],
    ["after the contact is deleted", ({ path }) => api.contacts.deleteContact({ path })],
    ["while the org is suspended", ({ org }) => api.orgs.suspendOrg({ path: org })],
    [
      "after a week",
      ({ org }) =>
        sql.query(
          `update contact_links set expire_time = now() from orgs where orgs.id = contact_links.org_id and orgs.name = $1`,
          [org.split("/")[2]],
        ),
    ],
  ])("%s", async (_when, happen) => {
    const org = await newOrg();
    const { path, mail } = await sendTo(org);
    await happen({ path, org });
    const shown = await openBrowser(server.url).open(linkIn(mail));
    expect([shown.status, shown.text]).toEqual([400, expect.stringContaining("this link cannot be used")]);
    expect((await confirm(codeIn(mail))).status).toBe(400);
  });

  test("that is made up, or of something else", async () => {
    const { mail } = await sendTo(await newOrg());
    const code = codeIn(mail);
    for (const each of ["x", "a".repeat(75), `${code.slice(0, 74)}${code.endsWith("A") ? "B" : "A"}`, `${code}\0`]) {
      expect((await confirm(each)).status).toBe(400);
    }
    const [link] = await sql.query(
      "select encode(hash, 'hex') as hash from contact_links where hash is not null limit 1",
    );
    expect((await confirm(String(link?.["hash"]))).status).toBe(400);
  });
});

describe("a mail", () => {
  test.each([
    ["https://evil.example/login", undefined],
    ["call +49 (30) 123-45 evil", undefined],
    ["Grüße & Söhne", "Grüße & Söhne"],
  ])("of an org called %j shows %j, or the name", async (displayName, shown) => {
    const org = await newOrg(displayName);
    const { mail } = await sendTo(org);
    expect(mail.subject).toBe(`Confirm the contact of ${shown ?? org.split("/")[2]}`);
    expect(mail.text.match(/https?:\S+/g)).toEqual([linkIn(mail)]);
    expect(mail.raw).not.toContain("evil.example");
  });

  test.each([
    "victim@example.com\r\nBcc: other@example.com",
    "a@example.com,b@example.com",
    '"a@evil.example x"@example.com',
    "<a@example.com>",
    "a@[127.0.0.1]",
    "a\0@example.com",
    "",
  ])("is not sent to %j", async (email) => {
    const failure = await failureOf(createContact("/orgs/system", email));
    expect(failure).toMatchObject({ reason: "FIELD_INVALID", fields: ["contact.email"] });
  });

  test("that the server refuses leads to no link", async () => {
    const email = newAddress();
    mailServer.refused.add(email);
    const { path } = await createContact(await newOrg(), email);
    expect(await api.contacts.sendConfirmation({ path })).toMatchObject({
      link: "",
      mailSent: false,
      mailProblem: "the mail server refused the mail (550)",
    });
  });

  test("to an address comes a minute after the one before, also when its contact is another one", async () => {
    const org = await newOrg();
    const email = newAddress();
    const { path } = await sendTo(org, email);
    expect(await failureOf(api.contacts.sendConfirmation({ path }))).toMatchObject({ reason: "RATE_LIMITED" });
    await api.contacts.deleteContact({ path });
    const next = await createContact(org, email.toUpperCase());
    expect(await failureOf(api.contacts.sendConfirmation({ path: next.path }))).toMatchObject({
      code: "ResourceExhausted",
      reason: "RATE_LIMITED",
    });
  });

  test("of an org is one of so many in an hour, whatever its contacts are", async () => {
    const org = await newOrg();
    for (let sent = 0; sent < 4; sent++) await sendTo(org);
    const { path } = await createContact(org);
    expect(await failureOf(api.contacts.sendConfirmation({ path }))).toMatchObject({ reason: "RATE_LIMITED" });
    await sendTo(await newOrg());
  });

  test("is not sent by a request that only validates, or repeats another", async () => {
    const { path } = await createContact(await newOrg());
    const before = mailServer.mails.length;
    await api.contacts.sendConfirmation({ path, validateOnly: true });
    expect(mailServer.mails).toHaveLength(before);
    const requestId = crypto.randomUUID();
    expect((await api.contacts.sendConfirmation({ path, requestId })).mailSent).toBe(true);
    expect(await api.contacts.sendConfirmation({ path, requestId })).toMatchObject({ mailSent: false, link: "" });
    expect(mailServer.mails).toHaveLength(before + 1);
  });
});

test("without a mail server, the link is in the response, and works", async () => {
  const { path } = await createContact(await newOrg());
  const byOther = createApi("gRPC", other.url, server.operatorKey);
  const { link, mailSent, mailProblem } = await byOther.contacts.sendConfirmation({ path });
  expect([mailSent, mailProblem]).toEqual([false, "the service sends no mail"]);
  expect((await confirm(required(link.split("#")[1]))).status).toBe(200);
  expect(await confirmTimeOf(path)).toBeDefined();
});
