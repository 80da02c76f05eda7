// Whoever is deleted does not sign in, also after `:undelete`, and the same person can be created again.
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { ScimSourcesService } from "../../gen/iam/v1alpha/scim_source_pb.ts";
import { uniqueName } from "../support/api.ts";
import { sharedTokenServers } from "../support/token-servers.ts";
import { type Directory, type ScimScene, newUser, openScimScene, patch, user } from "./scim-scene.ts";

let scene: ScimScene;
let directory: Directory;
let providers: string[];
beforeAll(async () => {
  scene = await openScimScene(await sharedTokenServers());
  const { api, org } = scene;
  providers = [];
  for (const name of ["okta", "entra"]) {
    const identityProvider = { name, issuer: `https://${name}.example`, clientId: "tenantry" };
    const { path } = await api.identityProviders.createIdentityProvider({ parentPath: org, identityProvider });
    providers.push(path);
  }
  directory = await scene.directory({ identityProviderPath: providers[0] ?? "" });
});

const pathOf = (id: string) => `${scene.org}/members/@${id}`;

async function subjectsOf(id: string): Promise<string[]> {
  const { identities } = await scene.api.identities.listIdentities({ parentPath: pathOf(id) });
  return identities.map(({ subject }) => subject);
}

describe("somebody whom an admin has deleted", () => {
  test("is created again with the same subject, and the one before does not sign in after it is undeleted", async () => {
    const externalId = uniqueName("00u1");
    const first = await newUser(directory.scim, { externalId });
    await scene.api.members.deleteMember({ path: pathOf(first) });
    const again = await newUser(directory.scim, { externalId });
    expect(again).not.toBe(first);
    await scene.api.members.undeleteMember({ path: pathOf(first) });
    expect([await subjectsOf(first), await subjectsOf(again)]).toEqual([[], [externalId]]);
  });

  test("gives its subject free also if the directory has changed everything else of it", async () => {
    const externalId = uniqueName("00u1");
    const first = await newUser(directory.scim, { externalId });
    const renamed = patch({ op: "replace", path: "externalId", value: uniqueName("00u2") });
    expect((await directory.scim("PATCH", `/Users/${first}`, renamed)).status).toBe(200);
    await scene.api.members.deleteMember({ path: pathOf(first) });
    expect(await subjectsOf(await newUser(directory.scim, { externalId }))).toEqual([externalId]);
  });

  test("keeps its subject if the source does not manage it", async () => {
    const { api, org } = scene;
    const subject = uniqueName("00u1");
    const { id } = await api.members.createMember({ parentPath: org, member: { name: uniqueName("hand") } });
    const path = pathOf(id);
    const identity = { name: "okta", identityProviderPath: providers[0] ?? "", subject };
    await api.identities.createIdentity({ parentPath: path, identity });
    await api.members.deleteMember({ path });
    const userName = `${uniqueName("judy")}@acme.example`;
    const { status, body } = await directory.scim("POST", "/Users", user(userName, { externalId: subject }));
    expect([status, body.scimType]).toEqual([409, "uniqueness"]);
    await api.members.undeleteMember({ path });
    expect((await api.identities.listIdentities({ parentPath: path })).identities).toHaveLength(1);
  });
});

test("somebody whom the directory deletes has no identity left, of whatever provider and whoever has made it", async () => {
  const { api } = scene;
  const own = await scene.directory({ identityProviderPath: providers[0] ?? "" });
  const externalId = uniqueName("00u1");
  const id = await newUser(own.scim, { externalId });
  const sources = createClient(ScimSourcesService, api.transport);
  const scimSource = { identityProviderPath: providers[1] ?? "" };
  await sources.updateScimSource({
    path: own.source.path,
    scimSource,
    updateMask: { paths: ["identity_provider_path"] },
  });
  const identity = { name: "hand", identityProviderPath: providers[1] ?? "", subject: uniqueName("hand") };
  await api.identities.createIdentity({ parentPath: pathOf(id), identity });
  expect(await subjectsOf(id)).toHaveLength(2);
  expect((await own.scim("DELETE", `/Users/${id}`)).status).toBe(204);
  await api.members.undeleteMember({ path: pathOf(id) });
  expect(await subjectsOf(id)).toEqual([]);
});
