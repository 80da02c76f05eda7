// Invitations through a real identity provider and a real mail server: who accepts, what a link alone does, and what voids it. On two servers with
// one database, of which the second sends mails.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Member_State } from "../../gen/iam/v1alpha/member_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import type { OpenIdProvider } from "../support/openid-issuers.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";
import { type Browser, type MailServer, linkIn, openBrowser, startMailServer } from "./invitation-place.ts";
import {
  type LinkedProvider,
  type ProviderPlace,
  callsIn,
  identityProviderNetworks,
  ofPage,
  openProviderPlace,
} from "./provider-place.ts";

let mailServer: MailServer;
let servers: readonly [TestServer, TestServer];
let api: Api;
/** On the server that sends mails. */
let mailing: Api;
let sql: SqlClient;
let place: ProviderPlace;
let openId: OpenIdProvider;
let shared: LinkedProvider;

beforeAll(async () => {
  mailServer = await startMailServer();
  const first = await startTestServer({ issuer, identityProviderNetworks });
  const mail = { url: mailServer.url, from: "iam@example.com" };
  const { databaseUrl, secretKeysFile } = first;
  const ofFirst = { databaseUrl, secretKeysFile };
  const second = await startTestServer({
    issuer,
    identityProviderNetworks,
    ...ofFirst,
    mail,
    invitationMailsPerHour: 3,
  });
  servers = [first, second];
  sql = await openSqlClient(databaseUrl);
  api = createApi("gRPC", first.url, first.operatorKey);
  mailing = createApi("gRPC", second.url, first.operatorKey);
  place = await openProviderPlace(servers, api);
  ({ openId, shared } = place);
});
afterAll(async () => {
  await sql.close();
  await openId.close();
  await servers[1].close();
  await servers[0].close();
  await mailServer.close();
});
beforeEach(() => {
  openId.claims = {};
  openId.serve(shared.redirectUri);
});

const { newOrg, newProvider } = callsIn(() => place);

let serial = 0;

interface Invited {
  readonly path: string;
  readonly email: string;
  readonly link: string;
  readonly browser: Browser;
}

/** Invites somebody new. Without a mail, the response has the link. */
async function invite(org = place.org, by = api): Promise<Invited> {
  const name = uniqueName("guest");
  const email = `${name}@example.com`;
  const { member, link, mailSent } = await by.members.inviteMember({ parentPath: org, member: { name, email } });
  expect([mailSent, link === ""]).toEqual(by === mailing ? [true, true] : [false, false]);
  const received = by === mailing ? linkIn(required(mailServer.mails.at(-1))) : link;
  return { path: member?.path ?? "", email, link: received, browser: openBrowser(servers[0].url) };
}

/** Lets the provider name a person that nobody has linked yet. */
function become(email: string | undefined, claims: object = { email_verified: true }): void {
  serial++;
  openId.person = `person-${serial}`;
  openId.claims = { ...(email !== undefined && { email }), ...claims };
}

/** The id in the form of a page with a decision. */
const invitationIn = (text: string): string => required(/name="invitation" value="([\w-]+)"/.exec(text)?.[1]);

async function stateOf(path: string): Promise<string | undefined> {
  const { state } = await api.members.getMember({ path });
  return Object.entries(Member_State).find(([, value]) => value === state)?.[0];
}

describe("an invited person", () => {
  test("accepts with a verified address, whatever its case, and is signed in as the member from then on", async () => {
    const { path, email, link, browser } = await invite();
    expect(link).toMatch(/^https:\/\/iam\.example\.com\/sign-in\/invitation#[\w-]{75}$/);
    const { invitationExpireTime, state } = await api.members.getMember({ path });
    expect(state).toBe(Member_State.INVITED);
    expect(timestampDate(required(invitationExpireTime)).getTime()).toBeGreaterThan(Date.now() + 6 * 86_400_000);
    const shown = await browser.open(link);
    expect(shown.text).toContain(email);
    expect(shown.text).not.toContain('value="accept"');
    become(email.toUpperCase());
    const signedIn = await browser.signIn(shared);
    expect(signedIn.text).toContain(`<bdi>${email.toUpperCase()}</bdi> at <bdi>Shared &lt;login&gt;</bdi>`);
    expect(signedIn.text).toContain('value="accept"');
    expect(await stateOf(path)).toBe("INVITED");
    const accepted = await browser.decide("accept");
    expect([accepted.status, accepted.location]).toEqual([303, "/console/"]);
    expect([...browser.cookies.keys()]).toEqual(["__Host-tenantry"]);
    expect((await browser.get("/account")).text).toContain(path);
    const { identities } = await api.identities.listIdentities({ parentPath: path });
    expect(identities.map(({ subject, state: ofIdentity }) => [subject, ofIdentity])).toEqual([[openId.person, 2]]);
    const { changes } = await api.changes.listChanges({ parentPath: place.org, filter: `actor_path = "${path}"` });
    expect(changes.map(({ method, resourceType }) => [method, resourceType])).toEqual(
      expect.arrayContaining([
        ["tenantry/accept-invitation", "Member"],
        ["tenantry/accept-invitation", "Identity"],
      ]),
    );
    const again = openBrowser(servers[1].url);
    expect((await again.open(link)).status).toBe(400);
    // The next sign-in finds the identity.
    const later = openBrowser(servers[1].url);
    const back = await later.signIn(shared);
    expect(back.text).not.toContain("Accept");
  });

  test("declines, which deletes the member and frees its address", async () => {
    const { path, email, link, browser } = await invite();
    const { id } = await api.members.getMember({ path });
    await browser.open(link);
    become(email);
    await browser.signIn(shared);
    const declined = await browser.decide("decline");
    expect([declined.status, browser.cookies.size]).toEqual([200, 0]);
    const byId = `${place.org}/members/@${id}`;
    expect(await stateOf(byId)).toBe("DELETED");
    expect((await browser.open(link)).status).toBe(400);
    await api.members.inviteMember({ parentPath: place.org, member: { name: uniqueName("again"), email } });
    expect(await failureOf(api.members.undeleteMember({ path: byId }))).toMatchObject({ reason: "RESOURCE_EXISTS" });
  });

  test("with a provider of its org needs no claim if the link was sent, or one whose addresses the org trusts", async () => {
    const org = await newOrg();
    const own = await newProvider(org, openId.issuer);
    openId.serve(own.redirectUri);
    const mailed = await invite(org, mailing);
    await mailed.browser.open(mailed.link);
    become(undefined, {});
    expect((await mailed.browser.signIn(own)).text).toContain('value="accept"');
    expect((await mailed.browser.decide("accept")).location).toBe("/console/");
    const passedOn = await invite(org);
    await passedOn.browser.open(passedOn.link);
    become(undefined, {});
    expect((await passedOn.browser.signIn(own)).text).toContain("does not tell the address");
    expect((await passedOn.browser.decide("accept")).status).toBe(400);
    become(passedOn.email, { email_verified: false });
    expect((await passedOn.browser.signIn(own, true)).text).toContain("does not say that this address is verified");
    expect((await passedOn.browser.decide("accept")).status).toBe(400);
    await api.identityProviders.updateIdentityProvider({ path: own.path, identityProvider: { emailTrusted: true } });
    expect((await passedOn.browser.decide("accept")).location).toBe("/console/");
  });
});

describe("nothing is accepted", () => {
  const cases: readonly [string, (email: string) => [string | undefined, object], string][] = [
    ["of another address, which sees both", () => ["carol@example.com", { email_verified: true }], "carol@example.com"],
    ["whose address is not verified", (email) => [email, { email_verified: false }], "is verified"],
    ["whose provider does not say whether the address is verified", (email) => [email, {}], "is verified"],
    ["whose provider names no address", () => [undefined, { email_verified: true }], "does not tell the address"],
    ["whose address is no text", () => [undefined, { email: ["x"], email_verified: true }], "is for"],
    [
      "whose address only looks the same",
      (email) => [email.replace("e", "\u0435"), { email_verified: true }],
      "is for",
    ],
    [
      "whose address has a part after a plus",
      (email) => [email.replace("@", "+x@"), { email_verified: true }],
      "is for",
    ],
  ];

  test.each(cases)("by a person %s, and the link stays", async (_name, claimsOf, text) => {
    const { path, email, link, browser } = await invite();
    await browser.open(link);
    become(...claimsOf(email));
    const shown = await browser.signIn(shared);
    expect([shown.text.includes(text), shown.text.includes('value="accept"'), shown.text.includes(email)]).toEqual([
      true,
      false,
      true,
    ]);
    for (const decision of ["accept", "decline"]) expect((await browser.decide(decision)).status).toBe(400);
    expect([await stateOf(path), (await api.identities.listIdentities({ parentPath: path })).identities]).toEqual([
      "INVITED",
      [],
    ]);
    become(email);
    await browser.signIn(shared, true);
    expect((await browser.decide("accept")).location).toBe("/console/");
  });

  test("by who has the link alone, follows it and sends its forms, as programs do that check mails", async () => {
    const { path, link, browser } = await invite();
    const shown = await browser.open(link);
    expect(shown.text).toContain("/sign-in/start");
    for (const decision of ["accept", "decline"]) {
      const answered = await browser.decide(decision);
      expect([answered.status, answered.location]).toEqual([303, "/sign-in/invitation"]);
    }
    expect((await openBrowser(servers[0].url).open(link)).text).toContain("You are invited");
    expect(await stateOf(path)).toBe("INVITED");
  });

  test("for a page of another site, nor with the person of another invitation", async () => {
    const { path, email, link, browser } = await invite();
    await browser.open(link);
    become(email);
    await browser.signIn(shared);
    for (const site of ["cross-site", "same-site", "none"]) {
      expect((await browser.decide("accept", { "sec-fetch-site": site })).status).toBe(400);
    }
    expect((await browser.decide("accept", {})).status).toBe(400);
    const other = await invite();
    const mixed = openBrowser(servers[0].url);
    await mixed.open(other.link);
    const person = "__Host-tenantry-invited";
    (mixed.cookies as Map<string, string>).set(person, browser.cookies.get(person) ?? "");
    expect((await mixed.decide("accept")).location).toBe("/sign-in/invitation");
    expect([await stateOf(path), await stateOf(other.path)]).toEqual(["INVITED", "INVITED"]);
  });

  test("on the page of another invitation than the browser has opened since", async () => {
    const [first, second] = [await invite(), await invite()];
    const { browser } = first;
    become(first.email);
    await browser.open(first.link);
    const firstId = invitationIn((await browser.signIn(shared)).text);
    expect((await browser.open(first.link)).text).toContain('value="accept"');
    const opened = await browser.open(second.link);
    expect([opened.text.includes(second.email), opened.text.includes('value="accept"')]).toEqual([true, false]);
    become(second.email);
    for (const isSignedIn of [false, true]) {
      const secondId = isSignedIn ? invitationIn((await browser.signIn(shared)).text) : "";
      expect(secondId).not.toBe(firstId);
      for (const decision of ["accept", "decline"]) {
        const { status, text } = await browser.decide(decision, ofPage, firstId);
        const hasBoth = text.includes("Nothing was decided") && text.includes(second.email);
        expect([status, hasBoth, text.includes(first.email)]).toEqual([400, true, false]);
      }
      expect([await stateOf(first.path), await stateOf(second.path)]).toEqual(["INVITED", "INVITED"]);
    }
    expect((await browser.decide("accept")).location).toBe("/console/");
    expect([await stateOf(first.path), await stateOf(second.path)]).toEqual(["INVITED", "ACTIVE"]);
    // Who has none open, because that was too long ago, gets the page for a code.
    const answered = await openBrowser(servers[0].url).decide("accept", ofPage, firstId);
    expect(answered.location).toBe("/sign-in/invitation");
  });

  test("at the provider of another org, which is not offered", async () => {
    const elsewhere = await newProvider(await newOrg(), openId.issuer, { emailTrusted: true });
    const { path, email, link, browser } = await invite();
    expect((await browser.open(link)).text).not.toContain(elsewhere.id);
    openId.serve(elsewhere.redirectUri);
    become(email);
    expect((await browser.signIn(elsewhere)).text).toContain("is not one with which people accept");
    expect((await browser.decide("accept")).status).toBe(400);
    expect(await stateOf(path)).toBe("INVITED");
  });

  test("twice: of 8 decisions at once on two servers, one succeeds", async () => {
    const { path, email, link, browser } = await invite();
    await browser.open(link);
    become(email);
    await browser.signIn(shared);
    const browsers = servers.flatMap(({ url }) => Array.from({ length: 4 }, () => openBrowser(url)));
    for (const each of browsers) {
      for (const [name, value] of browser.cookies) (each.cookies as Map<string, string>).set(name, value);
    }
    const answers = await Promise.all(browsers.map((each) => each.decide("accept")));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect((await api.identities.listIdentities({ parentPath: path })).identities).toHaveLength(1);
  });

  test("by a person who is a member of the org already", async () => {
    const { path, email, link, browser } = await invite();
    await browser.open(link);
    become(email);
    const { path: member } = await api.members.createMember({
      parentPath: place.org,
      member: { name: uniqueName("m") },
    });
    const identity = { name: "login", identityProviderPath: shared.path, subject: openId.person };
    await api.identities.createIdentity({ parentPath: member, identity });
    await browser.signIn(shared);
    const answered = await browser.decide("accept");
    expect([answered.status, answered.text.includes(member)]).toEqual([400, true]);
    expect(await stateOf(path)).toBe("INVITED");
  });
});

describe("a link is void", () => {
  const ends: readonly [string, (invited: Invited) => Promise<unknown>][] = [
    ["another one was made", ({ path }) => api.members.sendInvitation({ path })],
    [
      "the member has another address",
      ({ path }) => api.members.updateMember({ path, member: { email: "new@example.com" } }),
    ],
    [
      "the member had another address meanwhile",
      async ({ path, email }) => {
        for (const each of ["meanwhile@example.com", email])
          await api.members.updateMember({ path, member: { email: each } });
      },
    ],
    ["the member was activated by somebody else", ({ path }) => api.members.activateMember({ path })],
    ["the member was deleted", ({ path }) => api.members.deleteMember({ path })],
    [
      "the member was deleted and restored",
      async ({ path }) => {
        const { id } = await api.members.deleteMember({ path });
        await api.members.undeleteMember({ path: `${place.org}/members/@${id}` });
      },
    ],
    [
      "the invitation has expired",
      async ({ path }) => {
        const { id } = await api.members.getMember({ path });
        await sql.query("update members set invitation_expire_time = now() where id = $1", [id]);
      },
    ],
  ];

  test.each(ends)("when %s, also for a person who was about to accept", async (_name, end) => {
    const invited = await invite();
    await invited.browser.open(invited.link);
    become(invited.email);
    await invited.browser.signIn(shared);
    await end(invited);
    expect((await invited.browser.decide("accept")).status).toBe(400);
    expect((await openBrowser(servers[1].url).open(invited.link)).status).toBe(400);
  });

  test("while the org is suspended, and works again afterwards", async () => {
    const org = await newOrg();
    const { link } = await invite(org);
    await api.orgs.suspendOrg({ path: org });
    expect((await openBrowser(servers[0].url).open(link)).status).toBe(400);
    await api.orgs.activateOrg({ path: org });
    expect((await openBrowser(servers[0].url).open(link)).status).toBe(200);
  });
});
