// Tests the previews in responses to `validate_only`: who would gain or lose which access.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { AccessChange, AccessPreview } from "../../gen/iam/v1alpha/access_preview_pb.ts";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { uniqueName } from "../support/api.ts";
import { openSqlClient } from "../support/sql.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";
import { type CastMember, type OrgCast, createOrgCast } from "./org-cast.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const start = "compute.instances.start";
const stop = "compute.instances.stop";
const validateOnly = true;

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  let cast: OrgCast;
  let alice: CastMember;
  let bob: CastMember;
  /** Has `start` on the project. */
  let group: string;
  let web: string;
  let starter: string;
  let binding: string;

  beforeEach(async () => {
    cast = await createOrgCast(protocol, server);
    alice = await cast.member("alice");
    bob = await cast.member("bob");
    group = await cast.group("ops");
    web = await cast.project("web");
    starter = await cast.role("starter", start);
    await cast.join(group, alice.path);
    binding = await cast.grant(web, group, starter);
  });

  const gains = (member: string, resourcePath: string, ...permissions: string[]): Partial<AccessChange> => ({
    memberPath: member,
    resourcePath,
    gainedPermissions: permissions,
    lostPermissions: [],
    conditional: false,
  });
  const loses = (member: string, resourcePath: string, ...permissions: string[]): Partial<AccessChange> => ({
    ...gains(member, resourcePath),
    lostPermissions: permissions,
  });
  const told = (changes: Partial<AccessChange>[], { trimmed = false } = {}): Partial<AccessPreview> => {
    const membersWith = (side: "gainedPermissions" | "lostPermissions"): number =>
      new Set(changes.filter((change) => change[side]?.length !== 0).map(({ memberPath }) => memberPath)).size;
    return expect.objectContaining({
      gainingMemberCount: membersWith("gainedPermissions"),
      losingMemberCount: membersWith("lostPermissions"),
      changeCount: changes.length,
      changes: changes.map((change) => expect.objectContaining(change) as AccessChange),
      partial: false,
      trimmed,
    }) as Partial<AccessPreview>;
  };

  test("a new role binding grants its role to the members of the group, on its scope", async () => {
    await cast.nest(group, await cast.group("inner"));
    await cast.join(`${cast.org.path}/groups/inner`, bob.path);
    const roleBinding = { name: "all", subjectPath: group, rolePath: starter };
    const created = await cast.api.roleBindings.createRoleBinding({
      parentPath: cast.org.path,
      roleBinding,
      validateOnly,
    });
    expect(created.accessPreview).toEqual(
      told([gains(alice.path, cast.org.path, start), gains(bob.path, cast.org.path, start)]),
    );
    // Nothing has changed, and only responses to `validate_only` have a preview.
    expect(await cast.may(bob.path, start, cast.org.path)).toBe(false);
    const real = await cast.api.roleBindings.createRoleBinding({ parentPath: cast.org.path, roleBinding });
    expect(real.accessPreview).toBeUndefined();
    expect(await cast.may(bob.path, start, cast.org.path)).toBe(true);
    // A member who already has the access gains nothing.
    const again = { ...roleBinding, name: "again" };
    const second = await cast.api.roleBindings.createRoleBinding({ parentPath: web, roleBinding: again, validateOnly });
    expect(second.accessPreview).toEqual(told([]));
  });

  test("deleting a role binding takes away the access that no other binding grants", async () => {
    await cast.join(group, bob.path);
    await cast.grant(cast.org.path, bob.path, starter);
    const answer = await cast.api.roleBindings.deleteRoleBinding({ path: binding, validateOnly });
    expect(answer.accessPreview).toEqual(told([loses(alice.path, web, start)]));
    expect((await cast.api.roleBindings.deleteRoleBinding({ path: binding })).accessPreview).toBeUndefined();
  });

  test("changing a role changes the access of its subjects", async () => {
    const role = { permissions: [stop] };
    const updated = await cast.api.roles.updateRole({ path: starter, role, validateOnly });
    expect(updated.accessPreview).toEqual(told([{ ...gains(alice.path, web, stop), lostPermissions: [start] }]));
    const renamed = await cast.api.roles.updateRole({ path: starter, role: { name: "other" }, validateOnly });
    expect(renamed.accessPreview).toEqual(told([]));
  });

  test("a member gains the access of a group by joining, and loses it by leaving", async () => {
    const outer = await cast.group("outer");
    await cast.nest(outer, group);
    await cast.grant(cast.org.path, outer, await cast.role("stopper", stop));
    const groupMember = { memberPath: bob.path };
    const joined = await cast.api.groupMembers.createGroupMember({ parentPath: group, groupMember, validateOnly });
    const gained = [gains(bob.path, web, start, stop), gains(bob.path, cast.org.path, stop)];
    // The project inherits access from the org.
    expect(joined.accessPreview?.changes).toEqual(
      expect.arrayContaining(gained.map((change) => expect.objectContaining(change) as AccessChange)),
    );
    expect(joined.accessPreview).toMatchObject({ gainingMemberCount: 1, losingMemberCount: 0, changeCount: 2 });
    const left = await cast.api.groupMembers.deleteGroupMember({ path: `${group}/members/alice`, validateOnly });
    expect(left.accessPreview).toMatchObject({ gainingMemberCount: 0, losingMemberCount: 1, changeCount: 2 });
    const unnested = await cast.api.groupMembers.deleteSubgroup({ path: `${outer}/subgroups/ops`, validateOnly });
    expect(
      unnested.accessPreview?.changes.map(({ resourcePath, lostPermissions }) => [resourcePath, lostPermissions]),
    ).toEqual([[cast.org.path, [stop]]]);
  });

  test("deleting a group takes away the access of the group and its outer groups", async () => {
    const outer = await cast.group("outer");
    await cast.nest(outer, group);
    await cast.grant(cast.org.path, outer, await cast.role("stopper", stop));
    const answer = await cast.api.groups.deleteGroup({ path: group, validateOnly });
    expect(answer.accessPreview).toMatchObject({ losingMemberCount: 1, gainingMemberCount: 0, changeCount: 2 });
    expect(await cast.may(alice.path, start, web)).toBe(true);
    const made = await cast.api.groups.createGroup({ parentPath: cast.org.path, group: { name: "new" }, validateOnly });
    expect(made.accessPreview).toEqual(told([]));
  });

  test("a batch is previewed as a whole", async () => {
    const carol = await cast.member("carol");
    const requests = [bob, carol].map(({ path }) => ({ groupMember: { memberPath: path } }));
    const joined = await cast.api.groupMembers.batchCreateGroupMembers({ parentPath: group, requests, validateOnly });
    expect(joined.accessPreview).toEqual(told([gains(bob.path, web, start), gains(carol.path, web, start)]));
    expect(joined.members.map(({ accessPreview }) => accessPreview)).toEqual([undefined, undefined]);
    const paths = [binding];
    const parentPath = web;
    const deleted = await cast.api.roleBindings.batchDeleteRoleBindings({ parentPath, paths, validateOnly });
    expect(deleted.accessPreview).toEqual(told([loses(alice.path, web, start)]));
  });

  test("the first hundred changes are listed in the order of ids, and all are counted", async () => {
    const parentPath = cast.org.path;
    const many = Array.from({ length: 120 }, (_, index) => `m-${index}`);
    const { members } = await cast.api.members.batchCreateMembers({
      parentPath,
      requests: many.map((name) => ({ member: { name } })),
    });
    const robot = { name: "last-robot", type: Member_Type.APPLICATION };
    const { path: robotPath } = await cast.api.members.createMember({ parentPath, member: robot });
    const key = await cast.api.apiKeys.createApiKey({ parentPath: robotPath, apiKey: { name: "ci" } });
    const requests = [...members.map(({ path }) => path), robotPath].map((memberPath) => ({
      groupMember: { memberPath },
    }));
    const { accessPreview } = await cast.api.groupMembers.batchCreateGroupMembers({
      parentPath: group,
      requests,
      validateOnly,
    });
    expect(accessPreview).toMatchObject({ gainingMemberCount: 121, changeCount: 121 });
    expect(accessPreview?.apiKeyPaths, "of the last one, too").toEqual([key.path]);
    const first = members.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, 100);
    expect(accessPreview?.changes.map(({ memberPath }) => memberPath)).toEqual(first.map(({ path }) => path));
  });

  test("access that starts later is previewed for that time, and conditional access is marked", async () => {
    const later = { startTime: timestampFromDate(new Date(Date.now() + 86_400_000)) };
    const parentPath = web;
    const roleBinding = { name: "later", subjectPath: bob.path, rolePath: starter };
    const begun = await cast.api.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: { ...roleBinding, ...later },
      validateOnly,
    });
    expect(begun.accessPreview).toEqual(told([gains(bob.path, web, start)]));
    const bound = await cast.api.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: { ...roleBinding, condition: "context.vip == true" },
      validateOnly,
    });
    expect(bound.accessPreview).toEqual(told([{ ...gains(bob.path, web, start), conditional: true }]));
  });

  test("a later start, an earlier end and another condition are previewed", async () => {
    const later = timestampFromDate(new Date(Date.now() + 86_400_000));
    const update = async (path: string, roleBinding: object) =>
      (await cast.api.roleBindings.updateRoleBinding({ path, roleBinding, validateOnly })).accessPreview;
    expect(await update(binding, { startTime: later })).toEqual(told([loses(alice.path, web, start)]));
    expect(await update(binding, { expireTime: later })).toEqual(told([loses(alice.path, web, start)]));
    expect(await update(binding, { displayName: "Starters" })).toEqual(told([]));
    const expiring = { path: `${group}/members/alice`, groupMember: { expireTime: later }, validateOnly };
    const { accessPreview } = await cast.api.groupMembers.updateGroupMember(expiring);
    expect(accessPreview).toEqual(told([loses(alice.path, web, start)]));
    const future = await cast.grant(web, bob.path, starter, { startTime: later });
    const deleted = await cast.api.roleBindings.deleteRoleBinding({ path: future, validateOnly });
    expect(deleted.accessPreview).toEqual(told([loses(bob.path, web, start)]));
    const vip = await cast.grant(web, bob.path, await cast.role("stopper", stop), { condition: "context.vip == true" });
    expect(await update(vip, { condition: "context.vip == false" })).toEqual(
      told([{ ...gains(bob.path, web, stop), lostPermissions: [stop], conditional: true }]),
    );
  });

  test("a member who is not ACTIVE gains nothing", async () => {
    await cast.api.members.suspendMember({ path: bob.path });
    const groupMember = { memberPath: bob.path };
    const joined = await cast.api.groupMembers.createGroupMember({ parentPath: group, groupMember, validateOnly });
    expect(joined.accessPreview).toEqual(told([]));
  });

  test("a role with all permissions is listed with known permissions and a star", async () => {
    const roleBinding = { name: uniqueName("o"), subjectPath: bob.path, rolePath: "/roles/owner" };
    const created = await cast.api.roleBindings.createRoleBinding({ parentPath: web, roleBinding, validateOnly });
    const [change] = created.accessPreview?.changes ?? [];
    expect(change?.gainedPermissions).toEqual(
      expect.arrayContaining(["*", "iam.projects.get", "iam.orgs.delete", start]),
    );
    expect(created.accessPreview).toMatchObject({ changeCount: 1, gainingMemberCount: 1 });
  });

  test("changes on a customer and on the platform are previewed, too", async () => {
    const roleBinding = { name: uniqueName("c"), subjectPath: bob.path, rolePath: "/roles/viewer" };
    const parentPath = cast.org.customerPath;
    const created = await cast.api.roleBindings.createRoleBinding({ parentPath, roleBinding, validateOnly });
    expect(created.accessPreview?.changes.map(({ resourcePath }) => resourcePath)).toEqual([parentPath]);
    const subjectPath = (
      await cast.api.members.createMember({
        parentPath: "orgs/system",
        member: { name: uniqueName("helper") },
      })
    ).path;
    const onPlatform = { name: uniqueName("p"), subjectPath, rolePath: "/roles/viewer" };
    const granted = await cast.api.roleBindings.createRoleBinding({ roleBinding: onPlatform, validateOnly });
    expect(granted.accessPreview?.changes.map(({ resourcePath }) => resourcePath)).toEqual(["/"]);
  });

  test("resources on which the caller cannot see access are neither listed nor counted", async () => {
    const manager = await cast.member("manager", await cast.role("joiner", "iam.groupMembers.create", start));
    const secret = await cast.project("secret");
    await cast.grant(secret, group, starter);
    const joining = { parentPath: group, groupMember: { memberPath: bob.path }, validateOnly };
    const preview = async () => (await manager.api.groupMembers.createGroupMember(joining)).accessPreview;
    expect(await preview()).toEqual(told([], { trimmed: true }));
    // A preview says who has access and why, so both permissions are required.
    await cast.grant(web, manager.path, await cast.role("explainer", "iam.access.explain"));
    expect(await preview()).toEqual(told([], { trimmed: true }));
    await cast.grant(web, manager.path, await cast.role("lister", "iam.access.list"));
    expect(await preview()).toEqual(told([gains(bob.path, web, start)], { trimmed: true }));
  });

  test("an invalid request is rejected", async () => {
    const groupMember = { memberPath: `${cast.org.path}/members/nobody` };
    const joining = cast.api.groupMembers.createGroupMember({ parentPath: group, groupMember, validateOnly });
    await expect(joining).rejects.toThrow("nobody");
  });
});

test("many concurrent previews leave connections for other calls", async () => {
  const cast = await createOrgCast("gRPC", server);
  const group = await cast.group("ops", await cast.role("starter", start));
  const { path: memberPath } = await cast.member("alice");
  const joining = { parentPath: group, groupMember: { memberPath }, validateOnly };
  const sql = await openSqlClient(server.databaseUrl);
  onTestFinished(() => sql.close());
  // A separate session, because within a transaction pg_stat_activity does not change.
  const watcher = await openSqlClient(server.databaseUrl);
  onTestFinished(() => watcher.close());
  const countWaiting = async () => {
    const ofDatabase = "wait_event_type = 'Lock' and datname = current_database()";
    return (await watcher.query(`select from pg_stat_activity where ${ofDatabase}`)).length;
  };
  // More than there are connections. One waits for the lock of the org, the others for their turn.
  await sql.query("begin");
  await sql.query("select from orgs where '/orgs/' || name = $1 for update", [cast.org.path]);
  const previews = Array.from({ length: 24 }, () => cast.api.groupMembers.createGroupMember(joining));
  const told = Promise.all(previews);
  told.catch(() => {});
  try {
    await expect.poll(countWaiting).toBe(1);
    const others = await Promise.all(Array.from({ length: 4 }, () => createOrgCast("gRPC", server)));
    expect(others).toHaveLength(4);
  } finally {
    await sql.query("rollback");
  }
  for (const { accessPreview } of await told) {
    expect(accessPreview).toMatchObject({ gainingMemberCount: 1, changeCount: 1 });
  }
});

test("over REST, a Delete has no response body, except with validate_only", async () => {
  const cast = await createOrgCast("REST", server);
  const alice = await cast.member("alice");
  const group = await cast.group("ops", await cast.role("starter", start));
  await cast.join(group, alice.path);
  const send = (query: string) =>
    fetch(`${server.url}/iam/v1alpha${group}${query}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${server.operatorKey}` },
    });
  const checked = await send("?validate_only=true");
  expect(checked.status).toBe(200);
  expect(await checked.json()).toEqual({
    access_preview: {
      gaining_member_count: 0,
      losing_member_count: 1,
      change_count: 1,
      changes: [
        {
          member_path: alice.path,
          resource_path: cast.org.path,
          gained_permissions: [],
          lost_permissions: [start],
          conditional: false,
        },
      ],
      partial: false,
      trimmed: false,
      api_key_paths: [],
    },
  });
  const done = await send("");
  expect([done.status, await done.text()]).toEqual([204, ""]);
});
