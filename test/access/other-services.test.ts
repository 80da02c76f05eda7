// Permissions of other services in predefined roles: by their verbs, whatever the service and the collection.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";
import { type OrgCast, createOrgCast } from "./org-cast.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const [editor, viewer, accessAdmin] = ["/roles/editor", "/roles/viewer", "/roles/access-admin"] as const;
const [get, start] = ["compute.instances.get", "compute.instances.start"] as const;

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let cast: OrgCast;
  let web: string;
  beforeEach(async () => {
    cast = await createOrgCast(protocol, server);
    web = await cast.project("web");
  });

  const exceeds = (permission: string) => ({ reason: "GRANT_EXCEEDS_OWN", metadata: { permission } });
  const role = (...permissions: string[]) => ({ name: "custom", permissions });

  test.each([
    ["viewer", [true, true, false, false]],
    ["access-admin", [true, true, false, false]],
    ["editor", [true, true, true, true]],
    ["admin", [true, true, true, true]],
    ["members-admin", [false, false, false, false]],
    ["provider", [false, false, false, false]],
  ])("%s may get, list, start and create: %j", async (name, expected) => {
    const { path } = await cast.member("alice", `/roles/${name}`);
    const check = () =>
      Promise.all(
        ["get", "list", "start", "create"].map((verb) =>
          cast.may(path, `compute.instances.${verb}`, `${web}/instances/i`),
        ),
      );
    expect(await check()).toEqual(expected);
    // That a custom role names them changes nothing.
    await cast.role("custom", get, "compute.instances.list", start, "compute.instances.create");
    expect(await check()).toEqual(expected);
  });

  test("are never those of this service", async () => {
    const { path } = await cast.member("alice", editor);
    for (const permission of ["iam.members.create", "iam.unknown.get", "resources.services.create", "a.b.c.get"]) {
      expect([permission, await cast.may(path, permission, cast.org.path).catch(() => false)]).toEqual([
        permission,
        false,
      ]);
    }
  });

  test("are shown by wildcards, which a custom role cannot have", async () => {
    const shown = async (path: string) =>
      (await cast.api.roles.getRole({ path })).permissions.filter((each) => each.includes("*"));
    expect(await shown(viewer)).toEqual(["*.*.get", "*.*.list"]);
    expect(await shown(accessAdmin)).toEqual(["*.*.get", "*.*.list"]);
    expect(await shown(editor)).toEqual(["*.*.*"]);
    expect(await shown("/roles/admin")).toEqual(["*.*.*"]);
    expect(await shown("/roles/owner")).toEqual(["*"]);
    expect(await shown("/roles/projects-admin")).toEqual([]);
    const refused = cast.api.roles.createRole({ parentPath: cast.org.path, role: role("*.*.get") });
    expect(await failureOf(refused)).toMatchObject({ code: "InvalidArgument", fields: ["role.permissions[0]"] });
  });

  test("an editor who manages access grants editor, and a custom role with any of them", async () => {
    const alice = await cast.member("alice", editor, accessAdmin);
    const bob = await cast.member("bob");
    const grant = (rolePath: string) =>
      alice.api.roleBindings.createRoleBinding({
        parentPath: cast.org.path,
        roleBinding: { name: rolePath.split("/").at(-1) ?? "", rolePath, subjectPath: bob.path },
      });
    const { path } = await alice.api.roles.createRole({
      parentPath: cast.org.path,
      role: role(start, "new.things.grow"),
    });
    for (const each of [path, editor, viewer]) await grant(each);
    expect(await failureOf(grant("/roles/admin"))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
    expect(await failureOf(grant("/roles/owner"))).toMatchObject(exceeds("*"));
    const { rolePaths, granterPaths } = await cast.access.explainAccess({
      subjectPath: (await cast.member("carol")).path,
      permission: "new.things.shrink",
      resourcePath: cast.org.path,
    });
    expect([rolePaths, granterPaths]).toEqual([["/roles/editor", "/roles/admin", "/roles/owner"], [alice.path]]);
  });

  test("who manages access alone grants reading, and no more", async () => {
    const alice = await cast.member("alice", accessAdmin);
    const bob = await cast.member("bob");
    const grant = (rolePath: string) =>
      alice.api.roleBindings.createRoleBinding({
        parentPath: cast.org.path,
        roleBinding: { name: "b", rolePath, subjectPath: bob.path },
      });
    const define = (...permissions: string[]) =>
      alice.api.roles.createRole({ parentPath: cast.org.path, role: role(...permissions) });
    expect(await failureOf(define(get, start))).toMatchObject(exceeds(start));
    const refused = await failureOf(grant(editor));
    expect(refused).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
    expect(refused.message).toContain("more");
    const starter = await cast.role("starter", get, start);
    expect(await failureOf(grant(starter))).toMatchObject(exceeds(start));
    await define(get, "storage.buckets.list");
    await grant(viewer);
  });

  test("nobody takes them from others without holding them", async () => {
    const alice = await cast.member("alice", accessAdmin);
    const binding = await cast.grant(web, (await cast.member("bob")).path, await cast.role("starter", start));
    const remove = () => alice.api.roleBindings.deleteRoleBinding({ path: binding });
    expect(await failureOf(remove())).toMatchObject({ reason: "REVOKE_EXCEEDS_OWN", metadata: { permission: start } });
    await cast.grant(web, alice.path, editor);
    await remove();
  });

  test("who may what is listed with them", async () => {
    const [alice, bob] = [await cast.member("alice", editor), await cast.member("bob", viewer)];
    const list = async (permission: string) =>
      (await cast.access.listSubjects({ permission, resourcePath: web })).subjectPaths.toSorted();
    expect(await list(get)).toEqual([alice.path, bob.path]);
    expect(await list(start)).toEqual([alice.path]);
    const { resourcePaths } = await cast.access.listResources({
      subjectPath: bob.path,
      permission: get,
      parentPath: cast.org.path,
    });
    expect(resourcePaths).toEqual([web]);
  });

  test("a preview tells of them by wildcards, and of those that roles name by name", async () => {
    const alice = await cast.member("alice");
    await cast.role("starter", get, start);
    const gainedBy = async (rolePath: string) => {
      const { accessPreview } = await cast.api.roleBindings.createRoleBinding({
        parentPath: web,
        roleBinding: { name: "b", rolePath, subjectPath: alice.path },
        validateOnly: true,
      });
      const gained = accessPreview?.changes.flatMap(({ gainedPermissions }) => gainedPermissions) ?? [];
      return gained.filter((each) => !each.startsWith("iam.") && !each.startsWith("resources."));
    };
    expect(await gainedBy(viewer)).toEqual(["*.*.get", "*.*.list", get]);
    await cast.grant(cast.org.path, alice.path, viewer);
    expect(await gainedBy(viewer)).toEqual([]);
    expect(await gainedBy(editor)).toEqual(["*.*.*", start]);
    expect(await gainedBy("/roles/owner")).toEqual(["*", start]);
  });
});
