// Who sets up a source, what its key may do, and what it sees of the org.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { ScimSource_Subject as Subject, ScimSourcesService } from "../../gen/iam/v1alpha/scim_source_pb.ts";
import { required } from "../../src/errors/required.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import {
  type SharedTokenServers,
  createTokenMember,
  exchangeKey,
  sharedTokenServers,
  statusWith,
} from "../support/token-servers.ts";
import { createTransport } from "../support/transports.ts";
import {
  type Directory,
  type ScimScene,
  membersOf,
  newGroup,
  newUser,
  openScimScene,
  patch,
  scimOf,
  user,
} from "./scim-scene.ts";

let place: SharedTokenServers;
let scene: ScimScene;
let directory: Directory;
let other: Directory;
beforeAll(async () => {
  place = await sharedTokenServers();
  scene = await openScimScene(place);
  [directory, other] = [await scene.directory(), await scene.directory()];
});

const sourcesOf = (key: string) => createClient(ScimSourcesService, createTransport("gRPC", place.servers[0].url, key));

describe("a source", () => {
  test("is created and changed by owners alone, also where somebody holds the permissions", async () => {
    const { api, org } = scene;
    const permissions = ["iam.scimSources.create", "iam.scimSources.update", "iam.scimSources.provision"];
    const role = await api.roles.createRole({ parentPath: org, role: { name: uniqueName("sources"), permissions } });
    const { path, key } = await createTokenMember(api, org);
    const roleBinding = { name: uniqueName("sources"), rolePath: role.path, subjectPath: path };
    await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    const owner = await createTokenMember(api, org, "owner");
    const scimSource = { name: uniqueName("own") };
    const { reason } = await failureOf(sourcesOf(key).createScimSource({ parentPath: org, scimSource }));
    expect(reason).toBe("GRANT_EXCEEDS_OWN");
    const created = await sourcesOf(owner.key).createScimSource({ parentPath: org, scimSource });
    const change = { path: created.path, scimSource: { memberPath: directory.memberPath } };
    expect((await failureOf(sourcesOf(key).updateScimSource(change))).reason).toBe("GRANT_EXCEEDS_OWN");
    // A member is that of one source.
    expect((await failureOf(sourcesOf(owner.key).updateScimSource(change))).reason).toBe("RESOURCE_EXISTS");
    const byNarrowed = await createApi("gRPC", place.servers[0].url, owner.key).apiKeys.createApiKey({
      parentPath: owner.path,
      apiKey: { name: "narrow", scopes: ["iam.scimSources.create"] },
    });
    const narrowed = sourcesOf(byNarrowed.secret ?? "").createScimSource({ parentPath: org, scimSource });
    expect((await failureOf(narrowed)).reason).toBe("GRANT_EXCEEDS_OWN");
  });

  test("acts as an application of its org, and for people of a provider of its org", async () => {
    const { api, org } = scene;
    const elsewhere = await openScimScene(place);
    const person = await api.members.createMember({ parentPath: org, member: { name: uniqueName("person") } });
    const { memberPath } = await elsewhere.directory();
    const create = (fields: object) =>
      failureOf(
        sourcesOf(place.servers[0].operatorKey).createScimSource({
          parentPath: org,
          scimSource: { name: uniqueName("bad"), ...fields },
        }),
      );
    expect(await create({ memberPath: person.path })).toMatchObject({ reason: "FIELD_INVALID" });
    expect(await create({ memberPath })).toMatchObject({ reason: "FIELD_INVALID" });
    expect(await create({ identityProviderPath: "/orgs/system/identityProviders/google" })).toMatchObject({
      reason: "FIELD_INVALID",
    });
    expect(await create({ memberPath: `${org}/members/nobody` })).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  });

  test("acts as an application of which nobody has a key from before", async () => {
    const { api, org } = scene;
    const sources = sourcesOf(place.servers[0].operatorKey);
    const { path: memberPath } = await api.members.createMember({
      parentPath: org,
      member: { name: uniqueName("deployer"), type: Member_Type.APPLICATION },
    });
    const apiKey = await api.apiKeys.createApiKey({ parentPath: memberPath, apiKey: { name: "deploys" } });
    const create = () =>
      sources.createScimSource({ parentPath: org, scimSource: { name: uniqueName("s"), memberPath } });
    const refusal = {
      reason: "FIELD_INVALID",
      message: expect.stringMatching(/^scim_source.member_path: .*\(deploys\)/),
    };
    expect(await failureOf(create())).toMatchObject(refusal);
    const empty = await sources.createScimSource({ parentPath: org, scimSource: { name: uniqueName("s") } });
    const update = sources.updateScimSource({ path: empty.path, scimSource: { memberPath } });
    expect(await failureOf(update)).toMatchObject(refusal);
    await api.apiKeys.deleteApiKey({ path: apiKey.path });
    const { path } = await create();
    // The keys of the directory itself are not in the way, also where its member is sent again, by its id.
    await api.apiKeys.createApiKey({ parentPath: memberPath, apiKey: { name: "scim" } });
    const { id } = await api.members.getMember({ path: memberPath });
    const same = { memberPath: `${org}/members/@${id}`, subject: Subject.USER_NAME };
    expect((await sources.updateScimSource({ path, scimSource: same })).memberPath).toBe(memberPath);
  });

  test("has no key from before where one is made while it is created", async () => {
    const { api, org } = scene;
    const [{ operatorKey }, { url }] = place.servers;
    const atOther = createClient(ScimSourcesService, createTransport("gRPC", url, operatorKey));
    for (let round = 0; round < 5; round += 1) {
      const name = uniqueName("racer");
      const member = { name, type: Member_Type.APPLICATION };
      const { path: memberPath } = await api.members.createMember({ parentPath: org, member });
      const [madeKey, madeSource] = await Promise.allSettled([
        api.apiKeys.createApiKey({ parentPath: memberPath, apiKey: { name: "racer" } }),
        atOther.createScimSource({ parentPath: org, scimSource: { name, memberPath } }),
      ]);
      if (madeSource.status === "rejected") {
        expect((await failureOf(Promise.reject(madeSource.reason))).reason).toBe("FIELD_INVALID");
        continue;
      }
      if (madeKey.status === "rejected") throw madeKey.reason;
      const [ofSource, ofKey] = [madeSource.value, madeKey.value].map(({ createTime }) =>
        timestampMs(required(createTime)),
      );
      expect(ofKey).toBeGreaterThanOrEqual(required(ofSource));
    }
  });

  test("leaves its members and groups when it is deleted, and its key is refused", async () => {
    const gone = await scene.directory();
    const id = await newUser(gone.scim);
    const group = await newGroup(gone.scim, [id]);
    await sourcesOf(place.servers[0].operatorKey).deleteScimSource({ path: gone.source.path });
    expect((await gone.scim("GET", `/Users/${id}`)).status).toBe(403);
    const { members } = await scene.api.groupMembers.listGroupMembers({ parentPath: `${scene.org}/groups/@${group}` });
    expect(members).toHaveLength(1);
    expect((await other.scim("GET", `/Users/${id}`)).status).toBe(404);
  });
});

describe("the key of a source", () => {
  test("calls SCIM of its org, and nothing else", async () => {
    const { key, memberPath } = directory;
    const elsewhere = await openScimScene(place);
    expect((await scimOf(place.servers[0], elsewhere.org, key)("GET", "/Users")).status).toBe(403);
    expect((await scimOf(place.servers[0], elsewhere.org, key)("POST", "/Users", user("a@b.example"))).status).toBe(
      403,
    );
    for (const path of [scene.org, `${scene.org}/members`, `${scene.org}/groups`, memberPath]) {
      expect([path, await statusWith(place.servers[0], key, path)]).toEqual([path, 403]);
    }
    const id = await newUser(directory.scim);
    const api = createApi("gRPC", place.servers[0].url, key);
    const path = `${scene.org}/members/@${id}`;
    expect((await failureOf(api.members.suspendMember({ path }))).reason).toBe("PERMISSION_DENIED");
    expect((await failureOf(api.members.createMember({ parentPath: scene.org, member: { name: "x" } }))).reason).toBe(
      "PERMISSION_DENIED",
    );
  });

  test("works as a token, and no longer once its role, its member or the source is gone", async () => {
    const gone = await scene.directory();
    const token = await exchangeKey(place.servers[0], gone.key);
    const atOther = scimOf(place.servers[1], scene.org, token);
    expect((await atOther("GET", "/Users")).status).toBe(200);
    await scene.api.roleBindings.deleteRoleBinding({ path: `${scene.org}/roleBindings/${gone.source.name}` });
    expect([(await atOther("GET", "/Users")).status, (await gone.scim("GET", "/Users")).status]).toEqual([403, 403]);
    await scene.api.members.suspendMember({ path: gone.memberPath });
    expect([(await atOther("GET", "/Users")).status, (await gone.scim("GET", "/Users")).status]).toEqual([401, 401]);
  });

  test("is made by nobody who does not hold what the source may do, who does not act as its member either", async () => {
    const { api, org } = scene;
    const { key } = await createTokenMember(api, org, "admin");
    const admin = createApi("gRPC", place.servers[0].url, key);
    const parentPath = directory.memberPath;
    const made = admin.apiKeys.createApiKey({ parentPath, apiKey: { name: uniqueName("mine") } });
    expect((await failureOf(made)).reason).toBe("GRANT_EXCEEDS_OWN");
    const impersonated = admin.members.impersonateMember({ path: parentPath });
    expect((await failureOf(impersonated)).reason).toBe("GRANT_EXCEEDS_OWN");
    const suspended = admin.members.suspendMember({ path: parentPath });
    expect((await failureOf(suspended)).reason).toBe("REVOKE_EXCEEDS_OWN");
  });

  test("of a person who holds everything calls nothing without a source", async () => {
    const { key } = await createTokenMember(scene.api, scene.org, "owner");
    const scim = scimOf(place.servers[0], scene.org, key);
    const { status, body } = await scim("GET", "/Users");
    expect([status, body.detail]).toEqual([403, expect.stringContaining("the member of no SCIM source")]);
    expect((await scim("POST", "/Users", user("a@b.example"))).status).toBe(403);
    expect((await scim("GET", "/ServiceProviderConfig")).status).toBe(200);
  });
});

describe("what another source, or somebody else, has made", () => {
  test("is neither seen nor changed", async () => {
    const id = await newUser(other.scim);
    const group = await newGroup(other.scim, [id]);
    const { id: byHand } = await scene.api.members.createMember({
      parentPath: scene.org,
      member: { name: uniqueName("hand") },
    });
    for (const each of [id, byHand]) {
      const path = `/Users/${each}`;
      const off = patch({ op: "replace", path: "active", value: false });
      expect((await directory.scim("GET", path)).status).toBe(404);
      expect((await directory.scim("PUT", path, user("a@b.example"))).status).toBe(404);
      expect((await directory.scim("PATCH", path, off)).status).toBe(404);
      expect((await directory.scim("DELETE", path)).status).toBe(404);
      const filter = encodeURIComponent(`id eq "${each}"`);
      expect((await directory.scim("GET", `/Users?filter=${filter}`)).body.totalResults).toBe(0);
      const joined = await directory.scim("POST", "/Groups", {
        displayName: uniqueName("g"),
        members: [{ value: each }],
      });
      expect(joined.body).toMatchObject({ status: "400", scimType: "invalidValue" });
    }
    expect((await directory.scim("DELETE", `/Groups/${group}`)).status).toBe(404);
    expect(await membersOf(other.scim, group)).toEqual([id]);
  });

  test("stays in a group whose members are replaced", async () => {
    const { path: memberPath } = await scene.api.members.createMember({
      parentPath: scene.org,
      member: { name: uniqueName("hand") },
    });
    const [one, two] = [await newUser(directory.scim), await newUser(directory.scim)];
    const group = await newGroup(directory.scim, [one]);
    const parentPath = `${scene.org}/groups/@${group}`;
    await scene.api.groupMembers.createGroupMember({ parentPath, groupMember: { memberPath } });
    const replace = { op: "replace", path: "members", value: [{ value: two }] };
    const { body } = await directory.scim("PATCH", `/Groups/${group}`, patch(replace));
    expect(body.members).toEqual([expect.objectContaining({ value: two })]);
    await directory.scim("PATCH", `/Groups/${group}`, patch({ op: "remove", path: "members" }));
    const { members } = await scene.api.groupMembers.listGroupMembers({ parentPath });
    expect(members.map((each) => each.memberPath)).toEqual([memberPath]);
  });

  test("keeps its address: a user with it is refused, and nothing of it is left", async () => {
    const email = `${uniqueName("taken")}@acme.example`;
    await scene.api.members.createMember({ parentPath: scene.org, member: { name: uniqueName("hand"), email } });
    const { status, body } = await directory.scim("POST", "/Users", user(email, { emails: [{ value: email }] }));
    expect([status, body.scimType]).toEqual([409, "uniqueness"]);
    const filter = encodeURIComponent(`userName eq "${email}"`);
    expect((await directory.scim("GET", `/Users?filter=${filter}`)).body.totalResults).toBe(0);
  });
});

describe("a source with an identity provider", () => {
  test("makes an identity with the member, and never another one", async () => {
    const { api, org } = scene;
    const provider = await api.identityProviders.createIdentityProvider({
      parentPath: org,
      identityProvider: { name: uniqueName("okta"), issuer: "https://acme.okta.example", clientId: "tenantry" },
    });
    const linked = await scene.directory({ identityProviderPath: provider.path });
    const externalId = uniqueName("00u1");
    const id = await newUser(linked.scim, { externalId });
    const list = async () => (await api.identities.listIdentities({ parentPath: `${org}/members/@${id}` })).identities;
    expect(await list()).toMatchObject([{ subject: externalId, identityProviderPath: provider.path }]);
    await linked.scim("PATCH", `/Users/${id}`, patch({ op: "replace", path: "externalId", value: "somebody-else" }));
    expect(await list()).toMatchObject([{ subject: externalId }]);
    // Its subject is free for the same person again.
    expect((await linked.scim("DELETE", `/Users/${id}`)).status).toBe(204);
    const again = await newUser(linked.scim, { externalId });
    expect(again).not.toBe(id);
    const without = await linked.scim("POST", "/Users", user(`${uniqueName("no")}@acme.example`));
    expect(without.body).toMatchObject({ status: "400", detail: expect.stringContaining("externalId is required") });
    const used = api.identityProviders.deleteIdentityProvider({ path: provider.path });
    expect((await failureOf(used)).reason).toBe("RESOURCE_IN_USE");

    const named = await scene.directory({ identityProviderPath: provider.path, subject: Subject.USER_NAME });
    const userName = uniqueName("login");
    const { body } = await named.scim("POST", "/Users", user(userName));
    const { identities } = await api.identities.listIdentities({ parentPath: `${org}/members/@${body.id}` });
    expect(identities).toMatchObject([{ subject: userName }]);
  });
});
