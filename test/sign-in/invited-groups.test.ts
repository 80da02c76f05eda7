// Invitations into groups: what the inviter must hold, when it invites and when the person accepts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import type { OpenIdProvider } from "../support/openid-issuers.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";
import { openBrowser } from "./invitation-place.ts";
import { type ProviderPlace, identityProviderNetworks, openProviderPlace } from "./provider-place.ts";

let server: TestServer;
let api: Api;
let place: ProviderPlace;
let openId: OpenIdProvider;
let org: string;

beforeAll(async () => {
  server = await startTestServer({ issuer, identityProviderNetworks });
  api = createApi("gRPC", server.url, server.operatorKey);
  place = await openProviderPlace([server], api);
  ({ openId, org } = place);
});
afterAll(async () => {
  await openId.close();
  await server.close();
});
beforeEach(() => {
  openId.claims = {};
});

async function newGroup(parentPath = org, rolePath?: string): Promise<string> {
  const group = { name: uniqueName("g"), displayName: `Group ${uniqueName("<g>")}` };
  const { path } = await api.groups.createGroup({ parentPath, group });
  if (rolePath !== undefined) await grant(path, rolePath);
  return path;
}

const grant = (subjectPath: string, rolePath: string) =>
  api.roleBindings.createRoleBinding({
    parentPath: org,
    roleBinding: { name: uniqueName("b"), rolePath, subjectPath },
  });

/** Somebody who holds a role on the org. */
async function newInviter(rolePath = "/roles/admin") {
  const { path } = await api.members.createMember({ parentPath: org, member: { name: uniqueName("inviter") } });
  const { path: binding } = await grant(path, rolePath);
  const { secret } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
  return { api: createApi("gRPC", server.url, required(secret)), path, binding };
}

async function invite(by: Api, groupPaths: string[]) {
  const name = uniqueName("guest");
  const email = `${name}@example.com`;
  const { member, link } = await by.members.inviteMember({ parentPath: org, member: { name, email }, groupPaths });
  return { path: member?.path ?? "", email, link };
}

/** Opens an invitation as its person. */
async function open({ link, email }: Awaited<ReturnType<typeof invite>>) {
  const browser = openBrowser(server.url);
  const shown = await browser.open(link);
  openId.person = uniqueName("person");
  openId.claims = { email, email_verified: true };
  return { browser, before: shown.text, page: (await browser.signIn(place.shared)).text };
}

const isIn = async (group: string, member: string): Promise<boolean> =>
  (await api.groupMembers.listGroupMembers({ parentPath: group })).members.some(
    ({ memberPath }) => memberPath === member,
  );

describe("an invitation", () => {
  test("has groups, which are shown to its person alone, and which the member is in when it accepts", async () => {
    const inviter = await newInviter();
    const groups = [await newGroup(org, "/roles/viewer"), await newGroup()];
    const invited = await invite(inviter.api, groups);
    const { displayName } = await api.groups.getGroup({ path: required(groups[0]) });
    const { browser, before, page } = await open(invited);
    const shown = displayName.replace("<", "&lt;").replace(">", "&gt;");
    expect([before.includes(shown), page.includes(shown)]).toEqual([false, true]);
    expect((await browser.decide("accept")).location).toBe("/console/");
    for (const group of groups) expect(await isIn(group, invited.path)).toBe(true);
  });

  test("leaves the groups to which its inviter may not add any more, and keeps the others", async () => {
    const inviter = await newInviter();
    const groups = [await newGroup(), await newGroup()] as const;
    const invited = await invite(inviter.api, [...groups]);
    const { browser } = await open(invited);
    await grant(groups[0], "/roles/owner");
    expect((await browser.decide("accept")).location).toBe("/console/");
    expect([await isIn(groups[0], invited.path), await isIn(groups[1], invited.path)]).toEqual([false, true]);
    const filter = `resource_type = "GroupMember" AND actor_path = "${invited.path}"`;
    const { changes } = await api.changes.listChanges({ parentPath: org, filter });
    expect(changes.map(({ method }) => method)).toEqual(["tenantry/accept-invitation"]);
  });

  test.each([
    [
      "has lost its role",
      (inviter: { binding: string }) => api.roleBindings.deleteRoleBinding({ path: inviter.binding }),
    ],
    ["is suspended", (inviter: { path: string }) => api.members.suspendMember({ path: inviter.path })],
  ])("of somebody who %s is accepted without the groups; by hand, they are added again", async (_name, lose) => {
    const inviter = await newInviter();
    const group = await newGroup();
    const [invited, other] = [await invite(inviter.api, [group]), await invite(inviter.api, [group])];
    await lose(inviter);
    await api.groupMembers.deleteGroupMember({ path: `${group}/members/${other.path.split("/").at(-1)}` });
    await api.groupMembers.createGroupMember({ parentPath: group, groupMember: { memberPath: other.path } });
    for (const each of [invited, other]) {
      const { browser } = await open(each);
      expect((await browser.decide("accept")).location).toBe("/console/");
    }
    expect([await isIn(group, invited.path), await isIn(group, other.path)]).toEqual([false, true]);
  });

  test("whose member is activated by hand leaves these groups, too, and one that has accepted keeps its own", async () => {
    const inviter = await newInviter();
    const groups = [await newGroup(), await newGroup()] as const;
    const [invited, accepted] = [await invite(inviter.api, [...groups]), await invite(inviter.api, [...groups])];
    await api.members.activateMember({ path: accepted.path });
    await api.members.suspendMember({ path: accepted.path });
    await grant(groups[0], "/roles/owner");
    for (const { path } of [invited, accepted]) await api.members.activateMember({ path });
    expect([await isIn(groups[0], invited.path), await isIn(groups[1], invited.path)]).toEqual([false, true]);
    expect(await isIn(groups[0], accepted.path)).toBe(true);
  });

  test("is not made into a group that the inviter could not add to, and then nobody is invited", async () => {
    const { api: admin } = await newInviter();
    const powerful = await newGroup(org, "/roles/owner");
    const { path: elsewhere } = await api.orgs.createOrg({ org: { name: uniqueName("org") } });
    const { api: membersAdmin } = await newInviter("/roles/members-admin");
    const missing = `${org}/groups/${uniqueName("missing")}`;
    const group = await newGroup();
    const reasonOf = async (by: Api, groups: string[]) => (await failureOf(invite(by, groups))).reason;
    const before = (await api.members.listMembers({ parentPath: org })).totalSize;
    expect(await reasonOf(admin, [group, powerful])).toBe("GRANT_EXCEEDS_OWN");
    expect(await reasonOf(membersAdmin, [group])).toBe("PERMISSION_DENIED");
    expect(await reasonOf(membersAdmin, [missing])).toBe("PERMISSION_DENIED");
    expect(await reasonOf(admin, [missing])).toBe("RESOURCE_NOT_FOUND");
    expect(await reasonOf(admin, [await newGroup(elsewhere)])).toBe("FIELD_INVALID");
    expect(await reasonOf(admin, [group, group.slice(1)])).toBe("FIELD_INVALID");
    expect((await api.members.listMembers({ parentPath: org })).totalSize).toBe(before);
  });
});
