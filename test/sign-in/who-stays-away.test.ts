// Who was sent away does not come back by the door: not past a directory, not by another provider of the same issuer. And whom an org knows comes in.
import { createClient } from "@connectrpc/connect";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { IdentityProvider_OnFirstSignIn as OnFirstSignIn } from "../../gen/iam/v1alpha/identity_provider_pb.ts";
import { ScimSourcesService } from "../../gen/iam/v1alpha/scim_source_pb.ts";
import { readConfig } from "../../src/config.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import type { OpenIdProvider } from "../support/openid-issuers.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";
import {
  type LinkedProvider,
  type ProviderPlace,
  callsIn,
  identityProviderNetworks,
  openProviderPlace,
} from "./provider-place.ts";

let server: TestServer;
let database: Database;
let place: ProviderPlace;
let api: Api;
let openId: OpenIdProvider;

const { CREATE, REFUSE } = OnFirstSignIn;
const everybody = { onFirstSignIn: CREATE, firstSignInCondition: "true" };
const maxMembers = 3;

beforeAll(async () => {
  const limits = { ...readConfig({}).limits, Member: maxMembers };
  server = await startTestServer({ issuer, identityProviderNetworks, limits });
  const connection = { connectionString: server.databaseUrl };
  database = openDatabase({ connection, maxReadConnections: 1, maxWriteConnections: 1, onConnectionError: () => {} });
  api = createApi("gRPC", server.url, server.operatorKey);
  place = await openProviderPlace([server], api);
  ({ openId } = place);
});
afterAll(async () => {
  await openId.close();
  await database.close();
  await server.close();
});
beforeEach(() => {
  openId.claims = {};
});

const { newOrg, newProvider, newUser, signIn } = callsIn(() => place);

/** A provider of an org, to which the real one sends its people back from now on. */
async function serving(org: string, fields: object = everybody): Promise<LinkedProvider> {
  const provider = await newProvider(org, openId.issuer, fields);
  openId.serve(provider.redirectUri);
  return provider;
}

const createSource = (parentPath: string) =>
  createClient(ScimSourcesService, api.transport).createScimSource({ parentPath, scimSource: { name: "directory" } });

const createsMembers = (path: string, onFirstSignIn: OnFirstSignIn) =>
  api.identityProviders.updateIdentityProvider({ path, identityProvider: { ...everybody, onFirstSignIn } });

const memberNamesOf = async (parentPath: string): Promise<string[]> =>
  (await api.members.listMembers({ parentPath })).members.map(({ name }) => name);

/** The details of the sign-ins that have failed in an org. */
const failedIn = async (parentPath: string): Promise<string[]> =>
  (await api.accessEvents.listAccessEvents({ parentPath })).accessEvents.map(
    ({ reason, reasonDetail }) => `${reason} ${reasonDetail}`,
  );

test("an org has a directory, or lets people in by themselves: the second of both is refused, and names the first", async () => {
  const org = await newOrg();
  const { path } = await newProvider(org, openId.issuer, everybody);
  const noSource = await failureOf(createSource(org));
  expect(noSource).toMatchObject({ reason: "STATE_FORBIDS", metadata: { resource: path } });
  await createsMembers(path, REFUSE);
  const source = await createSource(org);
  for (const admit of [() => createsMembers(path, CREATE), () => newProvider(org, openId.issuer, everybody)]) {
    expect(await failureOf(admit())).toMatchObject({ reason: "STATE_FORBIDS", metadata: { resource: source.path } });
  }
});

test("nobody becomes a member where an org has both all the same", async () => {
  const org = await newOrg();
  const provider = await serving(org, { onFirstSignIn: REFUSE, firstSignInCondition: "true" });
  const linked = await newUser(org, provider.path, "linked");
  await createSource(org);
  await sql`update identity_providers set creates_members = true, first_sign_in_author_org_id = org_id,
    first_sign_in_author_id = org_id where id = ${provider.id}`.execute(database.writes);
  const back = await signIn("sent-away", provider);
  expect([back.status, back.session]).toEqual([403, undefined]);
  expect(back.text).toContain("A directory says who is a member of the org");
  expect(await memberNamesOf(org)).toEqual([linked.path.split("/").at(-1)]);
  expect((await signIn("linked", provider)).location).toBe("/console/");
});

test.each([
  ["of the installation", () => place.shared.path, {}],
  ["of the org", async (org: string) => (await newProvider(org, openId.issuer)).path, { subjectClaim: "sub" }],
  ["with a slash at its end", async (org: string) => (await newProvider(org, `${openId.issuer}/`)).path, {}],
])("whom an org knows by another provider of the same issuer, %s, is refused", async (_name, other, fields) => {
  const org = await newOrg();
  const known = await newUser(org, await other(org), "known");
  const provider = await serving(org, { ...everybody, ...fields });
  const back = await signIn("known", provider);
  expect([back.status, back.session]).toEqual([403, undefined]);
  expect(back.text).toContain("Your account belongs to a member of the org already");
  await api.members.suspendMember({ path: known.path });
  expect((await signIn("known", provider)).status).toBe(403);
  expect(await memberNamesOf(org)).toHaveLength(1);
  expect((await signIn("unknown", provider)).location).toBe("/console/");
});

test("who is linked signs in while the userinfo endpoint fails, and somebody new does not", async () => {
  const org = await newOrg();
  const provider = await serving(org);
  await newUser(org, provider.path, "linked");
  let hasToken = false;
  openId.claims = {
    // The ID token is made before the endpoint is asked.
    get groups(): string[] {
      if (hasToken) throw new Error("the endpoint is down");
      hasToken = true;
      return [];
    },
  };
  expect((await signIn("linked", provider)).location).toBe("/console/");
  hasToken = false;
  expect((await signIn("new", provider)).status).toBe(400);
  expect(hasToken).toBe(true);
});

test("an org that is full lets nobody in, and sees that and who is suspended in its access events", async () => {
  const org = await newOrg();
  const provider = await serving(org);
  const { path } = await newUser(org, provider.path, "suspended");
  await api.members.suspendMember({ path });
  expect((await signIn("suspended", provider)).session).toBeUndefined();
  const names = Array.from({ length: maxMembers - 1 }, () => uniqueName("m"));
  for (const name of names) await api.members.createMember({ parentPath: org, member: { name } });
  expect((await signIn("late", provider)).session).toBeUndefined();
  const expected = ["GRANT_INVALID MEMBER_NOT_ACTIVE", "LIMIT_EXCEEDED "];
  await expect.poll(async () => (await failedIn(org)).toSorted()).toEqual(expected);
  expect(await memberNamesOf(org)).toHaveLength(maxMembers);
});
