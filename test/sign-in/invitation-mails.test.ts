// What is sent to whom, through a real mail server: what people chose reaches neither its headers nor its links.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { createMailer } from "../../src/identity/outgoing/mailer.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { createTokenMember } from "../support/token-servers.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";
import { type MailServer, type ReceivedMail, linkIn, startMailServer } from "./invitation-place.ts";

let mailServer: MailServer;
let server: TestServer;
let api: Api;

beforeAll(async () => {
  mailServer = await startMailServer();
  const mail = { url: mailServer.url, from: "iam@example.com" };
  server = await startTestServer({ issuer, mail, invitationMailsPerHour: 4 });
  api = createApi("gRPC", server.url, server.operatorKey);
});
afterAll(async () => {
  await server.close();
  await mailServer.close();
});

const newOrg = async (displayName = ""): Promise<string> =>
  (await api.orgs.createOrg({ org: { name: uniqueName("org"), displayName } })).path;

async function invite(parentPath: string, email = `${uniqueName("guest")}@example.com`, displayName = "") {
  return api.members.inviteMember({ parentPath, member: { name: uniqueName("guest"), email, displayName } });
}

const lastMail = (): ReceivedMail => required(mailServer.mails.at(-1));

describe("a mail", () => {
  test("has the names, the end and the link, and the response has no link", async () => {
    const { member, link, mailSent, mailProblem } = await invite(await newOrg("Acme, Inc"), "Bob.O'Neil+x@example.com");
    expect([link, mailSent, mailProblem]).toEqual(["", true, ""]);
    const { from, to, subject, text, raw } = lastMail();
    expect([from, to, subject]).toEqual(["iam@example.com", ["Bob.O'Neil+x@example.com"], "Invitation to Acme, Inc"]);
    expect(text).toContain("Operator invites you to Acme, Inc at iam.example.com.");
    expect(text).toContain(`you would be its member ${required(member).name}.`);
    expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(raw).toMatch(/^Content-Type: text\/plain; charset=utf-8\r$/m);
    expect(linkIn(lastMail())).toMatch(/^https:\/\/iam\.example\.com\/sign-in\/invitation#[\w-]{75}$/);
    expect(server.logLines.join("")).not.toContain(linkIn(lastMail()).split("#")[1]);
  });

  test.each([
    ["https://evil.example/login", undefined],
    ["Log in at evil.example", undefined],
    ["evil\u3002example", undefined],
    ["WWW evil", undefined],
    ["support@evil.example", undefined],
    ["\u202eelpmaxe", "elpmaxe"],
    ["Grüße & Söhne", "Grüße & Söhne"],
    ["Café №5 (1998), Inc.", "Café №5 (1998), Inc."],
  ])("of an org called %j shows %j, or the name", async (displayName, shown) => {
    const org = await newOrg(displayName);
    await invite(org);
    const { subject, text, raw } = lastMail();
    expect(subject).toBe(`Invitation to ${shown ?? org.split("/")[2]}`);
    expect(text.match(/https?:\S+/g)).toEqual([linkIn(lastMail())]);
    expect(raw).not.toContain("evil.example");
  });

  test.each([
    "Security cafe\u0301.evil",
    "xn--abc\u0301.evil",
    "x\u{1f4a9}.evil",
    "evil\u2024com",
    "evil\ufe52com",
    "evil\u{e0100}.\u{e0100}com",
    "\uff57\uff57\uff57 evil",
    "evil\u2100com",
    "call +49 (30) 123-45 evil",
    "evil 0\u20138\u20130\u20130\u20131\u20132\u20133",
    "evil \uff10\uff11\uff12\uff13\uff14\uff15\uff16",
  ])("leaves out names of an org such as %j", async (displayName) => {
    const org = await newOrg(displayName);
    await invite(org);
    expect(lastMail().subject).toBe(`Invitation to ${org.split("/")[2]}`);
    expect(lastMail().text).not.toContain("evil");
  });

  test.each([
    "Acme\r\nBcc: victim@example.com",
    "Acme\nBcc: victim@example.com",
    "Acme\r\n\r\nbody",
    "Acme\u2028Bcc: x",
  ])("has no header of a display name such as %j", async (displayName) => {
    const before = mailServer.mails.length;
    // Most are refused as display names.
    await newOrg(displayName).then((org) => invite(org), failureOfRefused);
    for (const { raw, to } of mailServer.mails.slice(before)) {
      expect(to).toHaveLength(1);
      expect(raw).not.toMatch(/^bcc:/im);
    }
  });

  test.each([
    "victim@example.com\r\nBcc: other@example.com",
    "a@example.com,b@example.com",
    "a@example.com b@example.com",
    '"a@evil.example x"@example.com',
    "a(comment)@example.com",
    "<a@example.com>",
    "a@example.com>",
    "a@[127.0.0.1]",
    "a@localhost",
    "a@127.0.0.1",
    "a@b@example.com",
    "a@exa\u{1d5c6}ple.com",
    "\u0430@example.com",
    "a@example..com",
    ".a@example.com",
    "a.@example.com",
    "a@-example.com",
    "a\0@example.com",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(64)}.com`,
    "@example.com",
    "a@",
    "",
  ])("is not sent to %j", async (email) => {
    const failure = await failureOf(invite("/orgs/system", email));
    expect(failure).toMatchObject({ reason: "FIELD_INVALID", fields: ["member.email"] });
  });

  test("that the server refuses leads to the link, and the reason without its words", async () => {
    const email = `${uniqueName("full")}@example.com`;
    mailServer.refused.add(email);
    const { link, mailSent, mailProblem } = await invite(await newOrg(), email);
    expect([link === "", mailSent, mailProblem]).toEqual([false, false, "the mail server refused the mail (550)"]);
  });

  test("is not sent after the time of the server is over", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const slow = await startMailServer(held);
    const mailer = createMailer({ url: slow.url, from: "iam@example.com" }, pino({ enabled: false }), 1_000);
    onTestFinished(async () => {
      mailer.close();
      await slow.close();
    });
    const problem = await mailer.send("org", { to: "bob@example.com", subject: "Hello", text: "Hello" });
    expect(problem).toBe("the mail server does not answer in time");
    release();
    // The end of the connection or of the mail, whatever comes first.
    await expect.poll(() => slow.ended() + slow.mails.length).toBeGreaterThan(0);
    expect(slow.mails).toEqual([]);
  });
});

async function failureOfRefused(error: unknown): Promise<void> {
  expect(await failureOf(Promise.reject(error as Error))).toMatchObject({ reason: "FIELD_INVALID" });
}

describe("mails are bounded", () => {
  test("of an org in an hour, and nothing is created beyond", async () => {
    const org = await newOrg();
    for (let sent = 0; sent < 4; sent++) await invite(org);
    expect(await failureOf(invite(org))).toMatchObject({ code: "ResourceExhausted", reason: "RATE_LIMITED" });
    expect((await api.members.listMembers({ parentPath: org })).totalSize).toBe(4);
    await invite(await newOrg());
  });

  test("to an address: a minute apart, also when its member is another one", async () => {
    const org = await newOrg();
    const { member } = await invite(org);
    const { path, email } = required(member);
    expect(await failureOf(api.members.sendInvitation({ path }))).toMatchObject({ reason: "RATE_LIMITED" });
    await api.members.deleteMember({ path });
    expect(await failureOf(invite(org, email.toUpperCase()))).toMatchObject({ reason: "RATE_LIMITED" });
  });
});

describe("an invitation", () => {
  test("is sent again with another link, and by a request that is repeated not", async () => {
    const [org, requestId] = [await newOrg(), "5f0c1d8e-3d0b-4b7a-9f51-6a2c8d1e7b30"];
    const member = { name: uniqueName("guest"), email: `${uniqueName("guest")}@example.com` };
    const first = await api.members.inviteMember({ parentPath: org, member, requestId });
    const sent = mailServer.mails.length;
    const repeated = await api.members.inviteMember({ parentPath: org, member, requestId });
    expect([repeated.member, repeated.mailSent, repeated.link]).toEqual([first.member, false, ""]);
    await api.members.inviteMember({
      parentPath: org,
      member: { ...member, name: "x", email: "x@example.com" },
      validateOnly: true,
    });
    expect(mailServer.mails).toHaveLength(sent);
  });

  test("of an address that a member has, in any case, is refused; another org knows nothing of it", async () => {
    const [org, other] = [await newOrg(), await newOrg()];
    const email = `${uniqueName("taken")}@example.com`;
    await api.members.createMember({ parentPath: org, member: { name: "alice", email } });
    const failure = await failureOf(invite(org, email.toUpperCase()));
    expect([failure.reason, failure.message.includes("alice")]).toEqual(["RESOURCE_EXISTS", false]);
    const listed = await api.members.listMembers({ parentPath: org, filter: `email = "${email.toUpperCase()}"` });
    expect(listed.members.map(({ name }) => name)).toEqual(["alice"]);
    await invite(other, email);
    const [bob] = [await api.members.createMember({ parentPath: org, member: { name: "bob" } })];
    const renamed = api.members.updateMember({ path: bob.path, member: { email } });
    expect(await failureOf(renamed)).toMatchObject({ reason: "RESOURCE_EXISTS" });
  });

  test("is for a person, and ends in 30 days at most", async () => {
    const member = { name: "x", email: "x@example.com" };
    const org = await newOrg();
    const far = timestampFromMs(Date.now() + 31 * 86_400_000);
    const cases: readonly [object, string][] = [
      [{ type: 2 }, "member.type"],
      [{ invitationExpireTime: far }, "member.invitation_expire_time"],
    ];
    for (const [fields, field] of cases) {
      const invited = api.members.inviteMember({ parentPath: org, member: { ...member, ...fields } });
      expect(await failureOf(invited)).toMatchObject({ reason: "FIELD_INVALID", fields: [field] });
    }
    const { path } = await api.members.createMember({
      parentPath: org,
      member: { name: "active", email: "a@example.com" },
    });
    expect(await failureOf(api.members.sendInvitation({ path }))).toMatchObject({ reason: "STATE_FORBIDS" });
  });

  test("is neither made nor sent by a credential with limits, nor sent by who holds less than its member", async () => {
    const org = await newOrg();
    const admin = await createTokenMember(api, org, "members-admin");
    const ofAdmin = createApi("gRPC", server.url, admin.key);
    const guest = {
      name: "guest",
      email: "guest@example.com",
      invitationExpireTime: timestampFromMs(Date.now() + 1e7),
    };
    const { path } = await ofAdmin.members.createMember({ parentPath: org, member: guest });
    const limits = [{ scopes: ["iam.members.*"] }, { expireTime: timestampFromMs(Date.now() + 1e7) }];
    for (const limit of limits) {
      const apiKey = { name: uniqueName("key"), ...limit };
      const { secret } = await api.apiKeys.createApiKey({ parentPath: admin.path, apiKey });
      const limited = createApi("gRPC", server.url, secret);
      const member = { name: "x", email: "x@example.com" };
      const invited = failureOf(limited.members.inviteMember({ parentPath: org, member }));
      expect(await invited).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
      expect(await failureOf(limited.members.sendInvitation({ path }))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
    }
    const roleBinding = { name: "b", rolePath: "/roles/owner", subjectPath: path };
    await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    expect(await failureOf(ofAdmin.members.sendInvitation({ path }))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
    expect((await api.members.sendInvitation({ path })).mailSent).toBe(true);
  });
});
