// A source fills its groups whatever roles these hold in its org. What they hold above the org, an owner of the org does not decide about.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeAll, describe, expect, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { type SharedTokenServers, sharedTokenServers } from "../support/token-servers.ts";
import { type Directory, type ScimScene, membersOf, newGroup, newUser, openScimScene, patch } from "./scim-scene.ts";

let place: SharedTokenServers;
let scene: ScimScene;
let directory: Directory;
beforeAll(async () => {
  place = await sharedTokenServers();
  scene = await openScimScene(place);
  directory = await scene.directory();
});

/** Grants a role on the customer of the org. */
async function grantAbove(subject: string): Promise<void> {
  const { api, org } = scene;
  const { customerPath: parentPath } = await api.orgs.getOrg({ path: org });
  const roleBinding = { name: uniqueName("above"), rolePath: "/roles/viewer", subjectPath: `${org}/${subject}` };
  await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
}

const add = (...ids: string[]) => ({ op: "add", path: "members", value: ids.map((value) => ({ value })) });

describe("a group that holds a role above the org", () => {
  let group: string;
  let inside: string;
  beforeAll(async () => {
    inside = await newUser(directory.scim);
    group = await newGroup(directory.scim, [inside]);
    await grantAbove(`groups/@${group}`);
  });

  test("is filled by nobody but who holds it there, also through another group, and nothing is half done", async () => {
    const id = await newUser(directory.scim);
    const inner = await newGroup(directory.scim);
    const { api, org } = scene;
    const subgroup = { groupPath: `${org}/groups/@${inner}` };
    await api.groupMembers.createSubgroup({ parentPath: `${org}/groups/@${group}`, subgroup });
    for (const each of [group, inner]) {
      const before = (await directory.scim("GET", `/Groups/${each}`)).body;
      const rename = { op: "replace", path: "displayName", value: uniqueName("Renamed") };
      const { status, body } = await directory.scim("PATCH", `/Groups/${each}`, patch(rename, add(id)));
      expect([status, body]).toEqual([
        403,
        {
          schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
          status: "403",
          detail: expect.stringContaining(`roles outside of its org, which is done by hand: ${org}/groups/@${each}`),
        },
      ]);
      const whole = { displayName: uniqueName("Renamed"), members: [{ value: id }, { value: inside }] };
      expect((await directory.scim("PUT", `/Groups/${each}`, whole)).status).toBe(403);
      expect((await directory.scim("GET", `/Groups/${each}`)).body).toEqual(before);
    }
    await api.groupMembers.deleteSubgroup({ path: `${org}/groups/@${group}/subgroups/@${inner}` });
    expect((await directory.scim("PATCH", `/Groups/${inner}`, patch(add(id)))).status).toBe(200);
  });

  test("is renamed and not deleted, and its people leave it", async () => {
    const path = `/Groups/${group}`;
    expect((await directory.scim("DELETE", path)).status).toBe(403);
    const rename = { op: "replace", path: "displayName", value: uniqueName("Renamed") };
    expect((await directory.scim("PATCH", path, patch(rename))).status).toBe(200);
    expect(await membersOf(directory.scim, group)).toEqual([inside]);
    const { status } = await directory.scim(
      "PATCH",
      path,
      patch({ op: "remove", path: `members[value eq "${inside}"]` }),
    );
    expect([status, await membersOf(directory.scim, group)]).toEqual([200, []]);
  });
});

test("a group that holds a role on a project of the org is filled and deleted", async () => {
  const { api, org } = scene;
  const group = await newGroup(directory.scim);
  const { path: parentPath } = await api.projects.createProject({
    parentPath: org,
    project: { name: uniqueName("web") },
  });
  const roleBinding = { name: uniqueName("b"), rolePath: "/roles/owner", subjectPath: `${org}/groups/@${group}` };
  await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  expect((await directory.scim("PATCH", `/Groups/${group}`, patch(add(await newUser(directory.scim))))).status).toBe(
    200,
  );
  expect((await directory.scim("DELETE", `/Groups/${group}`)).status).toBe(204);
});

test("somebody who holds a role above the org is deactivated and deleted, with all that it holds", async () => {
  const id = await newUser(directory.scim);
  await grantAbove(`members/@${id}`);
  const { secret } = await scene.api.apiKeys.createApiKey({
    parentPath: `${scene.org}/members/@${id}`,
    apiKey: { name: "laptop" },
  });
  const person = createApi("gRPC", place.servers[1].url, secret ?? "");
  await person.orgs.getOrg({ path: scene.org });
  const off = patch({ op: "replace", path: "active", value: false });
  expect((await directory.scim("PATCH", `/Users/${id}`, off)).status).toBe(200);
  await expect(person.orgs.getOrg({ path: scene.org })).rejects.toThrow();
  expect((await directory.scim("DELETE", `/Users/${id}`)).status).toBe(204);
});

test("a source whose application may provision until a time takes roles by its groups, and gives none", async () => {
  const { api, org } = scene;
  const own = await scene.directory();
  const [id, other] = [await newUser(own.scim), await newUser(own.scim)];
  const group = await newGroup(own.scim, [id]);
  const roleBinding = { name: uniqueName("b"), rolePath: "/roles/viewer", subjectPath: `${org}/groups/@${group}` };
  await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
  const path = `${org}/roleBindings/${own.memberPath.split("/").at(-1)}`;
  const expireTime = timestampFromDate(new Date(Date.now() + 3_600_000));
  await api.roleBindings.updateRoleBinding({ path, roleBinding: { expireTime } });
  const { status, body } = await own.scim("PATCH", `/Groups/${group}`, patch(add(other)));
  expect([status, body.detail]).toEqual([
    403,
    expect.stringContaining("iam.scimSources.provision on the org without a condition and without an expire time"),
  ]);
  expect(await membersOf(own.scim, group)).toEqual([id]);
  const off = patch({ op: "replace", path: "active", value: false });
  expect((await own.scim("PATCH", `/Users/${id}`, off)).status).toBe(200);
  const removal = patch({ op: "remove", path: `members[value eq "${id}"]` });
  expect((await own.scim("PATCH", `/Groups/${group}`, removal)).status).toBe(200);
  await api.roleBindings.updateRoleBinding({
    path,
    roleBinding: { expireTime: undefined },
    updateMask: { paths: ["expire_time"] },
  });
  expect((await own.scim("PATCH", `/Groups/${group}`, patch(add(other)))).status).toBe(200);
});
