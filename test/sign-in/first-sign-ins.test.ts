// First sign-ins at a real identity provider that creates members: who gets in, as whom, and into which groups; on two servers with one database.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { IdentityProvider_OnFirstSignIn as OnFirstSignIn } from "../../gen/iam/v1alpha/identity_provider_pb.ts";
import { Member_State, Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { openDatabase } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type OpenIdProvider, passThrough } from "../support/openid-issuers.ts";
import { openSqlClient } from "../support/sql.ts";
import { type TokenServers, startTokenServers } from "../support/token-servers.ts";
import {
  type LinkedProvider,
  type ProviderPlace,
  callsIn,
  identityProviderNetworks,
  ofPage,
  openProviderPlace,
} from "./provider-place.ts";

let tokenServers: TokenServers;
let place: ProviderPlace;
let api: Api;
let openId: OpenIdProvider;
let org: string;
let staff: string;
/** Creates members of whom the claim `groups` has `staff`, in the group `staff`. */
let own: LinkedProvider;

const { CREATE, REFUSE } = OnFirstSignIn;
const condition = '"staff" in claims.groups';

beforeAll(async () => {
  tokenServers = await startTokenServers({ identityProviderNetworks, purgeIntervalMs: 200 });
  ({ api } = tokenServers);
  place = await openProviderPlace(tokenServers.servers, api);
  ({ org, openId } = place);
  staff = await newGroup(org, "/roles/viewer");
  own = await newProvider(org, openId.issuer, {
    onFirstSignIn: CREATE,
    firstSignInCondition: condition,
    firstSignInGroupPaths: [staff],
  });
});
afterAll(async () => {
  await openId.close();
  await tokenServers.close();
});

/** Whom the real provider sends its people back to: to start it anew takes time. */
let served = "";
const serve = ({ redirectUri }: LinkedProvider): void => {
  if (served !== redirectUri) openId.serve(redirectUri);
  served = redirectUri;
};
beforeEach(() => serve(own));

const { newOrg, newProvider, start, comeBack, signIn, tokenOf } = callsIn(() => place);

/** Creates a group that holds a role on its org. */
async function newGroup(parentPath: string, rolePath?: string): Promise<string> {
  const { path } = await api.groups.createGroup({ parentPath, group: { name: uniqueName("staff") } });
  if (rolePath === undefined) return path;
  const roleBinding = { name: uniqueName("b"), rolePath, subjectPath: path };
  await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  return path;
}

let serial = 0;

/** Somebody whom the provider of the org lets in, with other claims. Returns the name that it prefers. */
function become(claims: object = {}): string {
  serial++;
  openId.person = `person-${serial}`;
  const name = `u${serial}-${uniqueName("p")}`;
  openId.claims = { groups: ["staff"], preferred_username: name, ...claims };
  return name;
}

/** Signs the person in, and returns the page and the member that it has become. */
async function enter(provider = own) {
  const back = await signIn(openId.person, provider);
  const [member] = await membersOf(openId.person);
  return { ...back, member };
}

/** The members that have an identity of a person. */
async function membersOf(subject: string, of = org): Promise<string[]> {
  const filter = `subject = "${subject}"`;
  const { identities } = await api.identities.listIdentities({ parentPath: `${of}/members/-`, filter });
  return identities.map(({ path }) => path.split("/").slice(0, 5).join("/"));
}

async function groupsOf(member: string): Promise<string[]> {
  const { members } = await api.groupMembers.listGroupMembers({ parentPath: `${org}/groups/-` });
  return members
    .filter(({ memberPath }) => memberPath === member)
    .map(({ path }) => path.split("/").slice(0, 5).join("/"));
}

describe("when the database fails after what a person came with is used up", () => {
  /** Lets inserts into a table fail until the test ends, as a database without memory does. */
  async function failInserts(table: string): Promise<void> {
    const sql = await openSqlClient(required(tokenServers.servers[0]).databaseUrl);
    await sql.query(`create or replace function fail_insert() returns trigger language plpgsql as
      $$ begin raise exception 'out of memory' using errcode = '53200'; end $$`);
    await sql.query(`create trigger fail before insert on ${table} execute function fail_insert()`);
    onTestFinished(async () => {
      await sql.query(`drop trigger fail on ${table}`);
      await sql.close();
    });
  }

  test("somebody from a provider is told to sign in again, with the way to do that", async () => {
    become();
    await failInserts("members");
    const { url, cookie } = await start(own.id, { org: org.split("/")[2] ?? "" });
    const back = await comeBack(await passThrough(url, own.redirectUri), cookie);
    expect([back.status, back.session]).toEqual([503, undefined]);
    expect(back.text).toContain("the database cannot be reached or is too busy; sign in again</p>");
    expect(back.text).toContain(`name="provider" value="${own.id}"`);
  });

  test("somebody with a code is told to get another one", async () => {
    const { databaseUrl: connectionString, url } = required(tokenServers.servers[0]);
    const database = openDatabase({
      connection: { connectionString },
      maxReadConnections: 1,
      maxWriteConnections: 1,
      onConnectionError: () => {},
    });
    onTestFinished(() => database.close());
    const member = await api.members.createMember({ parentPath: org, member: { name: uniqueName("code") } });
    const { id: orgId } = await api.orgs.getOrg({ path: org });
    const code = await createSignInLink(database, { orgId, memberId: member.id });
    await failInserts("browser_sessions");
    const body = new URLSearchParams({ code });
    const response = await fetch(`${url}/sign-in/code`, { method: "POST", body, headers: ofPage });
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("too busy; the code is used up: sign in with another one</p>");
  });
});

describe("a person at its first sign-in", () => {
  test("becomes a member, with what the group holds, and is the same one later", async () => {
    const name = become({ name: "Zoë <b>", email: "zoe@example.com", email_verified: true });
    const back = await enter();
    expect([back.status, back.location, back.member]).toEqual([303, "/console/", `${org}/members/${name}`]);
    const path = required(back.member);
    expect(await api.members.getMember({ path })).toMatchObject({
      displayName: "Zoë <b>",
      email: "zoe@example.com",
      state: Member_State.ACTIVE,
      type: Member_Type.USER,
    });
    expect(await groupsOf(path)).toEqual([staff]);
    const asMember = createApi("gRPC", tokenServers.servers[1].url, await tokenOf(required(back.session), path));
    expect((await asMember.orgs.getOrg({ path: org })).path).toBe(org);
    const { changes } = await api.changes.listChanges({ parentPath: org, filter: `actor_path = "${path}"` });
    const created = changes.filter(({ method }) => method === "tenantry/first-sign-in");
    expect(created.map(({ resourceType }) => resourceType).toSorted()).toEqual(["GroupMember", "Identity", "Member"]);
    expect((await enter()).location).toBe("/console/");
    expect(await membersOf(openId.person)).toEqual([path]);
  });

  test("of 8 first sign-ins at once on two servers makes one member", async () => {
    become();
    const started = await Promise.all(Array.from({ length: 8 }, () => start(own.id)));
    const returned = await Promise.all(started.map(({ url }) => passThrough(url, own.redirectUri)));
    const backs = await Promise.all(
      returned.map((url, index) => comeBack(url, required(started[index]).cookie, index % 2 === 0 ? 0 : 1)),
    );
    expect(backs.map(({ location }) => location)).toEqual(Array.from({ length: 8 }, () => "/console/"));
    expect(await membersOf(openId.person)).toHaveLength(1);
  });

  test("gets no name that a member has or had", async () => {
    const name = become();
    const first = required((await enter()).member);
    become({ preferred_username: `${name.toUpperCase()}@acme.example` });
    const second = await enter();
    expect([first, second.member]).toEqual([`${org}/members/${name}`, `${org}/members/${name}-2`]);
    await api.members.deleteMember({ path: required(second.member) });
    become({ preferred_username: name });
    expect((await enter()).member).toBe(`${org}/members/${name}-3`);
  });

  test("has a name that can be in a path, whatever the provider calls it", async () => {
    become({ preferred_username: "../../orgs/system", name: ["x"] });
    expect((await enter()).member).toBe(`${org}/members/orgs-system`);
  });

  test("has an address only if the provider vouches for it, and a display name only if it can be one", async () => {
    become({ email: "mallory@example.com", email_verified: false, name: "x".repeat(100) });
    const { member = "" } = await enter();
    const { email, name, displayName } = await api.members.getMember({ path: member });
    expect([email, displayName]).toEqual(["", name]);
  });

  test("with the address of a member is refused, and told what to do", async () => {
    const email = `${uniqueName("bob")}@example.com`;
    await api.members.createMember({ parentPath: org, member: { name: uniqueName("bob"), email } });
    become({ email: email.toUpperCase(), email_verified: true });
    const back = await enter();
    expect([back.status, back.session, back.member]).toEqual([403, undefined, undefined]);
    expect(back.text).toContain("A member of the org has your address already");
  });

  test("who was suspended or deleted stays away, and is new after the purge", async () => {
    become();
    const { member: path = "" } = await enter();
    const { id } = await api.members.suspendMember({ path });
    expect((await enter()).session).toBeUndefined();
    await api.members.deleteMember({ path });
    expect((await signIn(openId.person, own)).session).toBeUndefined();
    await api.members.purgeMember({ path: `${org}/members/@${id}` });
    await expect.poll(async () => (await signIn(openId.person, own)).location).toBe("/console/");
    const [again] = await membersOf(openId.person);
    expect((await api.members.getMember({ path: required(again) })).id).not.toBe(id);
  });
});

describe("a rule", () => {
  const deep = (levels: number): unknown => (levels === 0 ? "staff" : [deep(levels - 1)]);
  const others = [
    ["another group", ["stuff"], "you are not among them"],
    ["a text", "staff", "is not what the org expects"],
    ["huge claims", ["staff", ...Array.from({ length: 2_000 }, () => "x")], "is not what the org expects"],
    ["deep claims", ["staff", deep(40)], "is not what the org expects"],
  ] as const;

  test.each(others)("lets nobody in by %s, and the org is told", async (_name, groups, text) => {
    become({ groups });
    const back = await enter();
    expect([back.status, back.session, back.member]).toEqual([403, undefined, undefined]);
    expect(back.text).toContain(text);
    expect(back.text).toContain(openId.person);
  });

  test("that says no is in the access events of the org, with why", async () => {
    const parentPath = await newOrg();
    const rule = { onFirstSignIn: CREATE, firstSignInCondition: "false" };
    const provider = await newProvider(parentPath, openId.issuer, rule);
    serve(provider);
    become();
    expect((await signIn(openId.person, provider)).status).toBe(403);
    const read = async () => (await api.accessEvents.listAccessEvents({ parentPath })).accessEvents;
    await expect.poll(read).toMatchObject([{ reason: "GRANT_INVALID", reasonDetail: "NOT_LET_IN", count: 1 }]);
  });

  const losses: readonly [string, (author: Author, group: string) => Promise<unknown>][] = [
    ["may not invite any more", ({ binding }) => api.roleBindings.deleteRoleBinding({ path: binding })],
    ["is suspended", ({ path }) => api.members.suspendMember({ path })],
    [
      "holds less than the group",
      (_author, group) => {
        const roleBinding = { name: uniqueName("b"), rolePath: "/roles/owner", subjectPath: group };
        return api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
      },
    ],
  ];

  test.each(losses)("is refused when the author of the rule %s, until somebody sets it again", async (_name, lose) => {
    const author = await newAuthor();
    const group = await newGroup(org);
    const provider = await newProvider(org, openId.issuer);
    const rule = { onFirstSignIn: CREATE, firstSignInCondition: "true", firstSignInGroupPaths: [group] };
    const { path, id } = provider;
    const set = await author.api.identityProviders.updateIdentityProvider({ path, identityProvider: rule });
    expect([set.id, set.firstSignInAuthorPath]).toEqual([id, expect.stringContaining(author.id)]);
    serve(provider);
    become();
    expect((await enter(provider)).location).toBe("/console/");
    await lose(author, group);
    become();
    const back = await enter(provider);
    expect([back.status, back.member]).toEqual([403, undefined]);
    expect(back.text).toContain("who has set that up may not do so any more");
    const again = { ...rule, firstSignInCondition: "true || false" };
    await api.identityProviders.updateIdentityProvider({ path, identityProvider: again });
    expect(await groupsOf(required((await enter(provider)).member))).toEqual([group]);
  });

  test("keeps its author when something else is changed, and leaves out a group that is deleted", async () => {
    const author = await newAuthor();
    const groups = [await newGroup(org), await newGroup(org)];
    const rule = { onFirstSignIn: CREATE, firstSignInCondition: "true", firstSignInGroupPaths: groups };
    const { path, id, redirectUri } = await newProvider(org, openId.issuer);
    await author.api.identityProviders.updateIdentityProvider({ path, identityProvider: rule });
    const changed = { ...rule, description: "x" };
    const { firstSignInAuthorPath } = await api.identityProviders.updateIdentityProvider({
      path,
      identityProvider: changed,
    });
    expect(firstSignInAuthorPath).toContain(author.id);
    await api.groups.deleteGroup({ path: required(groups[0]) });
    const read = await api.identityProviders.getIdentityProvider({ path });
    expect(read.firstSignInGroupPaths).toEqual([groups[1]]);
    serve({ id, path, redirectUri });
    become();
    expect(await groupsOf(required((await enter({ id, path, redirectUri })).member))).toEqual([groups[1]]);
    // Whoever may change the provider may turn it off, also without the access of the groups.
    const role = { name: uniqueName("closer"), permissions: ["iam.identityProviders.update"] };
    const closer = await newAuthor((await api.roles.createRole({ parentPath: org, role })).path);
    const identityProvider = { onFirstSignIn: REFUSE };
    const off = await closer.api.identityProviders.updateIdentityProvider({ path, identityProvider });
    expect([off.firstSignInCondition, off.firstSignInAuthorPath]).toEqual(["true", ""]);
    become();
    expect((await enter({ id, path, redirectUri })).text).toContain("Not linked yet");
  });
});

interface Author {
  readonly api: Api;
  readonly path: string;
  readonly id: string;
  readonly binding: string;
}

/** An admin of the org. */
async function newAuthor(rolePath = "/roles/admin"): Promise<Author> {
  const { path, id } = await api.members.createMember({ parentPath: org, member: { name: uniqueName("author") } });
  const roleBinding = { name: uniqueName("b"), rolePath, subjectPath: path };
  const { path: binding } = await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
  const { secret } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
  return { api: createApi("gRPC", tokenServers.servers[0].url, required(secret)), path, id, binding };
}

describe("who may change a provider, and not invite", () => {
  test("may turn its rule off, and change neither of whom it is true nor what it sees, also while it lets nobody in", async () => {
    const group = await newGroup(org, "/roles/viewer");
    const rule = { onFirstSignIn: CREATE, firstSignInCondition: "false", firstSignInGroupPaths: [group] };
    const { path } = await newProvider(org, openId.issuer, rule);
    const role = { name: uniqueName("closer"), permissions: ["iam.identityProviders.update"] };
    const closer = await newAuthor((await api.roles.createRole({ parentPath: org, role })).path);
    const update = (by: Author["api"], identityProvider: object, paths: string[]) =>
      by.identityProviders.updateIdentityProvider({ path, identityProvider, updateMask: { paths } });
    const refused: [object, string[]][] = [
      [{ onFirstSignIn: REFUSE, firstSignInCondition: "true" }, ["on_first_sign_in", "first_sign_in_condition"]],
      [{ onFirstSignIn: REFUSE }, ["on_first_sign_in", "first_sign_in_group_paths"]],
      [{ emailTrusted: true }, ["email_trusted"]],
      [{ scopes: ["groups"] }, ["scopes"]],
      [{ onFirstSignIn: REFUSE, emailTrusted: true }, ["on_first_sign_in", "email_trusted"]],
    ];
    for (const [fields, paths] of refused) {
      expect(await failureOf(update(closer.api, fields, paths))).toMatchObject({ reason: "PERMISSION_DENIED" });
    }
    expect((await update(closer.api, { description: "x" }, ["description"])).description).toBe("x");
    const admin = await newAuthor();
    const { firstSignInAuthorPath } = await update(admin.api, { scopes: ["groups"] }, ["scopes"]);
    expect(firstSignInAuthorPath).toContain(admin.id);
    await update(closer.api, { onFirstSignIn: REFUSE }, ["on_first_sign_in"]);
    const later: [object, string[]][] = [
      [{ firstSignInCondition: "true" }, ["first_sign_in_condition"]],
      [{ emailTrusted: true }, ["email_trusted"]],
      [{ scopes: [] }, ["scopes"]],
    ];
    for (const [fields, paths] of later) {
      const failure = await failureOf(update(closer.api, fields, paths));
      expect(failure).toMatchObject({ metadata: { permission: "iam.members.invite" } });
    }
    expect((await update(admin.api, { scopes: [] }, ["scopes"])).scopes).toEqual([]);
    expect((await api.identityProviders.getIdentityProvider({ path })).firstSignInGroupPaths).toEqual([group]);
  });
});

describe("cannot be set", () => {
  const set = (by: Api, fields: object, parentPath = org) => {
    const identityProvider = { name: uniqueName("idp"), issuer: openId.issuer, clientId: "x", ...fields };
    return failureOf(by.identityProviders.createIdentityProvider({ parentPath, identityProvider }));
  };
  const created = { onFirstSignIn: CREATE, firstSignInCondition: "true" };

  test("a condition that is missing or not valid, which says where", async () => {
    const fields = ["identity_provider.first_sign_in_condition"];
    expect(await set(api, { onFirstSignIn: CREATE })).toMatchObject({ reason: "FIELD_INVALID", fields });
    const failure = await set(api, { ...created, firstSignInCondition: "claims.groups ==" });
    expect([failure.fields, failure.message]).toEqual([fields, expect.stringContaining("at column 15")]);
  });

  test("by somebody who holds less than the group, may not invite, or may not add to groups", async () => {
    const powerful = await newGroup(org, "/roles/owner");
    const { api: admin } = await newAuthor();
    expect(await set(admin, { ...created, firstSignInGroupPaths: [powerful] })).toMatchObject({
      reason: "GRANT_EXCEEDS_OWN",
    });
    const permissions = ["iam.identityProviders.create", "iam.identityProviders.update"];
    const role = { name: uniqueName("idp-admin"), permissions };
    const { path: rolePath } = await api.roles.createRole({ parentPath: org, role });
    const { api: narrow } = await newAuthor(rolePath);
    expect(await set(narrow, created)).toMatchObject({ metadata: { permission: "iam.members.invite" } });
    const missing = `${org}/groups/${uniqueName("missing")}`;
    for (const group of [staff, missing]) {
      const failure = await set(narrow, { firstSignInGroupPaths: [group] });
      expect(failure).toMatchObject({
        reason: "PERMISSION_DENIED",
        metadata: { permission: "iam.groupMembers.create" },
      });
    }
    expect(await set(api, { ...created, firstSignInGroupPaths: [missing] })).toMatchObject({
      reason: "RESOURCE_NOT_FOUND",
    });
  });

  test("with a group of another org, with a credential that ends, or in the org system", async () => {
    const elsewhere = await newGroup(await newOrg());
    const groups = ["identity_provider.first_sign_in_group_paths[0]"];
    expect(await set(api, { ...created, firstSignInGroupPaths: [elsewhere] })).toMatchObject({ fields: groups });
    expect(await set(api, created, "/orgs/system")).toMatchObject({ fields: ["identity_provider.on_first_sign_in"] });
    const { path } = await newAuthor();
    const expireTime = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 3_600) };
    const { secret } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "short", expireTime } });
    const ending = createApi("gRPC", tokenServers.servers[0].url, required(secret));
    expect(await set(ending, created)).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
  });

  const shared =
    "iss aud tid hd mail username Email emailaddress given_name login nonce sid token_use tenant_ctry _claim_sources https://x.example/e-mail UPN";

  test("a subject that changes or that many share, or another one later", async () => {
    for (const subjectClaim of shared.split(" ")) {
      expect(await set(api, { subjectClaim })).toMatchObject({ fields: ["identity_provider.subject_claim"] });
    }
    const identityProvider = { subjectClaim: "oid" };
    const failure = await failureOf(api.identityProviders.updateIdentityProvider({ path: own.path, identityProvider }));
    expect(failure.fields).toEqual(["identity_provider.subject_claim"]);
  });
});

test("another claim is the subject, and a token that lacks it says so", async () => {
  const provider = await newProvider(org, openId.issuer, {
    subjectClaim: "oid",
    onFirstSignIn: CREATE,
    firstSignInCondition: "true",
  });
  serve(provider);
  const oid = uniqueName("oid");
  become({ oid });
  expect((await signIn("pairwise-1", provider)).location).toBe("/console/");
  expect(await membersOf(oid)).toHaveLength(1);
  expect((await signIn("pairwise-2", provider)).location).toBe("/console/");
  expect([(await membersOf(oid)).length, await membersOf("pairwise-2")]).toEqual([1, []]);
  for (const wrong of [undefined, "", 7, ["x"], "x".repeat(256), "x\ud800", "x\0"]) {
    become({ oid: wrong });
    const back = await enter(provider);
    expect([back.status, back.session]).toEqual([400, undefined]);
    expect(back.text).toContain("in its claim oid, which is the subject_claim");
  }
});
