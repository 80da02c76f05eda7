// SCIM does more than its caller holds, so only the application of a source calls it, with a key of its own; and who gets to act as the
// application must hold everything in the org.
import { required } from "../../src/errors/required.ts";
import { createClient } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScimSourcesService } from "../../gen/iam/v1alpha/scim_source_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { type Consent, accessTokenOf, callsOf, newPkce, ofPage, openConsent } from "../api/consent.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import {
  type SharedTokenServers,
  createTokenMember,
  exchangeKey,
  sharedTokenServers,
} from "../support/token-servers.ts";
import { createTransport } from "../support/transports.ts";
import { type Directory, type ScimScene, openScimScene, scimOf, user } from "./scim-scene.ts";

let place: SharedTokenServers;
let scene: ScimScene;
let directory: Directory;
beforeAll(async () => {
  place = await sharedTokenServers();
  scene = await openScimScene(place);
  directory = await scene.directory();
});

const apiOf = (key: string): Api => createApi("gRPC", place.servers[0].url, key);

/** Whether SCIM of an org lets a credential read and write. */
async function statusesOf(org: string, credential: string): Promise<number[]> {
  const scim = scimOf(place.servers[0], org, credential);
  const made = await scim("POST", "/Users", user(`${uniqueName("judy")}@acme.example`));
  return [(await scim("GET", "/Users?count=0")).status, made.status];
}

test("who impersonates the application of a source does not call SCIM, also an owner", async () => {
  const { key } = await createTokenMember(scene.api, scene.org, "owner");
  const { accessToken } = await apiOf(key).members.impersonateMember({ path: directory.memberPath });
  expect(await statusesOf(scene.org, accessToken)).toEqual([403, 403]);
  const { body } = await scimOf(place.servers[0], scene.org, accessToken)("GET", "/Users");
  expect(body).toEqual({
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    status: "403",
    detail: expect.stringContaining("by the application of a source itself"),
  });
});

describe("an application that signs in", () => {
  let consent: Consent;
  let key: string;
  beforeAll(async () => {
    consent = await openConsent(place);
    const { path: parentPath } = consent.member;
    const { apiKeys } = scene.api;
    // An application becomes that of a source before it has keys.
    for (const { path } of (await apiKeys.listApiKeys({ parentPath })).apiKeys) await apiKeys.deleteApiKey({ path });
    const sources = createClient(ScimSourcesService, scene.api.transport);
    const scimSource = { name: "directory", memberPath: parentPath };
    await sources.createScimSource({ parentPath: consent.org.path, scimSource });
    key = required((await apiKeys.createApiKey({ parentPath, apiKey: { name: "scim" } })).secret);
  });
  afterAll(() => consent.close());

  test("calls SCIM with its key, and its tokens and sessions", async () => {
    const { org } = consent;
    const token = await exchangeKey(place.servers[1], key);
    const tokens = createClient(TokensService, createTransport("gRPC", place.servers[0].url, key));
    const { accessToken } = await tokens.issueToken({ startSession: true });
    for (const each of [key, token, accessToken]) expect(await statusesOf(org.path, each)).toEqual([200, 201]);
  });

  test("calls it neither by a client nor with a browser", async () => {
    const { newCode, redeem } = callsOf(() => consent);
    const pkce = newPkce();
    const ofClient = accessTokenOf(await redeem(await newCode(pkce, { scope: "*" }), pkce));
    const response = await fetch(`${place.servers[0].url}/console/session`, {
      method: "POST",
      body: JSON.stringify({ member: consent.member.path }),
      headers: { ...ofPage, cookie: consent.cookie, "content-type": "application/json" },
    });
    const { access_token: ofBrowser } = (await response.json()) as { access_token: string };
    for (const each of [ofClient, ofBrowser]) expect(await statusesOf(consent.org.path, each)).toEqual([403, 403]);
  });
});

test("a key of the application that is narrowed to SCIM calls it, and one that is narrowed to something else does not", async () => {
  const make = async (scopes: string[]): Promise<string> => {
    const apiKey = { name: uniqueName("narrow"), scopes };
    const { secret = "" } = await scene.api.apiKeys.createApiKey({ parentPath: directory.memberPath, apiKey });
    return secret;
  };
  expect(await statusesOf(scene.org, await make(["iam.scimSources.provision"]))).toEqual([200, 201]);
  expect(await statusesOf(scene.org, await make(["iam.members.get"]))).toEqual([403, 403]);
});

describe("who holds what the application holds, and methods to act as it,", () => {
  const permissions = [
    "iam.members.impersonate",
    "iam.apiKeys.create",
    "iam.apiKeys.rotate",
    "iam.groupMembers.create",
  ];

  /** Creates a member with the role of a source and these permissions besides. */
  async function bob(): Promise<Api> {
    const { api, org } = scene;
    const role = { name: uniqueName("acting"), permissions: [...permissions, "iam.roleBindings.create"] };
    const { path: rolePath } = await api.roles.createRole({ parentPath: org, role });
    const { path, key } = await createTokenMember(api, org, "provisioner");
    const roleBinding = { name: uniqueName("acting"), rolePath, subjectPath: path };
    await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    return apiOf(key);
  }

  test.each<[string, (of: Api) => Promise<unknown>]>([
    ["impersonate it", (of) => of.members.impersonateMember({ path: directory.memberPath })],
    [
      "make a key of it",
      (of) => of.apiKeys.createApiKey({ parentPath: directory.memberPath, apiKey: { name: uniqueName("mine") } }),
    ],
    [
      "rotate its key",
      (of) => of.apiKeys.rotateApiKey({ path: `${directory.memberPath}/apiKeys/scim`, name: uniqueName("mine") }),
    ],
    [
      "grant its role",
      async (of) => {
        const { path: subjectPath } = await createTokenMember(scene.api, scene.org);
        const roleBinding = { name: uniqueName("b"), rolePath: "/roles/provisioner", subjectPath };
        return of.roleBindings.createRoleBinding({ parentPath: scene.org, roleBinding });
      },
    ],
    [
      "add to a group with its role",
      async (of) => {
        const { api, org } = scene;
        const group = await api.groups.createGroup({ parentPath: org, group: { name: uniqueName("sources") } });
        const roleBinding = { name: uniqueName("b"), rolePath: "/roles/provisioner", subjectPath: group.path };
        await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
        const { path: memberPath } = await createTokenMember(api, org);
        return of.groupMembers.createGroupMember({ parentPath: group.path, groupMember: { memberPath } });
      },
    ],
  ])("cannot %s, which an owner can", async (_name, attempt) => {
    expect((await failureOf(attempt(await bob()))).reason).toBe("GRANT_EXCEEDS_OWN");
    const { key } = await createTokenMember(scene.api, scene.org, "owner");
    await attempt(apiOf(key));
  });

  test("is no owner for a while, or with a narrowed key", async () => {
    const { api, org } = scene;
    const { path: subjectPath, key } = await createTokenMember(api, org);
    const expireTime = timestampFromDate(new Date(Date.now() + 600_000));
    const roleBinding = { name: uniqueName("owner"), rolePath: "/roles/owner", subjectPath, expireTime };
    await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    const { path: parentPath } = await createTokenMember(api, org, "owner");
    const apiKey = { name: "narrow", scopes: ["iam.members.impersonate", "iam.scimSources.provision"] };
    const { secret = "" } = await api.apiKeys.createApiKey({ parentPath, apiKey });
    for (const each of [key, secret]) {
      const impersonated = apiOf(each).members.impersonateMember({ path: directory.memberPath });
      expect((await failureOf(impersonated)).reason).toBe("GRANT_EXCEEDS_OWN");
    }
  });
});
