// Tests memberships and subgroups over REST and gRPC.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const inAnHour = () => timestampFromDate(new Date(Date.now() + 3_600_000));

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let api: Api;
  let org: string;

  beforeEach(async () => {
    api = createApi(protocol, server.url, server.operatorKey);
    ({ path: org } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } }));
    for (const name of ["a", "b", "c"]) await api.groups.createGroup({ parentPath: org, group: { name } });
    await api.members.createMember({ parentPath: org, member: { name: "alice", displayName: "Alice L." } });
  });

  const nest = (outer: string, inner: string) =>
    api.groupMembers.createSubgroup({
      parentPath: `${org}/groups/${outer}`,
      subgroup: { groupPath: `${org}/groups/${inner}` },
    });
  const join = (group: string, memberPath = `${org}/members/alice`) =>
    api.groupMembers.createGroupMember({ parentPath: `${org}/groups/${group}`, groupMember: { memberPath } });
  const membersOf = async (group: string) =>
    (await api.groupMembers.listGroupMembers({ parentPath: `${org}/groups/${group}` })).members.map((one) => one.name);

  test("a membership shows its member and follows renames", async () => {
    const membership = await join("a");
    expect(membership).toMatchObject({
      path: `${org}/groups/a/members/alice`,
      name: "alice",
      displayName: "Alice L.",
      memberPath: `${org}/members/alice`,
    });
    expect(await api.groupMembers.getGroupMember({ path: membership.path })).toEqual(membership);
    const byId = await api.groupMembers.getGroupMember({ path: `${org}/groups/a/members/@${membership.id}` });
    expect(byId).toEqual(membership);
    await api.members.updateMember({ path: membership.memberPath, member: { name: "alicia" } });
    await api.groups.updateGroup({ path: `${org}/groups/a`, group: { name: "alpha" } });
    const renamed = await api.groupMembers.getGroupMember({ path: `${org}/groups/alpha/members/alicia` });
    expect(renamed).toMatchObject({
      path: `${org}/groups/alpha/members/alicia`,
      memberPath: `${org}/members/alicia`,
      id: membership.id,
    });
  });

  test("a member path can have an id, and a leading slash or none", async () => {
    const { id } = await api.members.getMember({ path: `${org}/members/alice` });
    await join("a", `${org.slice(1)}/members/@${id}`);
    expect(await membersOf("a")).toEqual(["alice"]);
  });

  test("a member can join a group only once", async () => {
    await join("a");
    expect(await failureOf(join("a"))).toMatchObject({ code: "AlreadyExists", reason: "RESOURCE_EXISTS" });
  });

  test("members of other orgs, unknown members and invalid paths are refused, and the error names the field", async () => {
    const other = await api.orgs.createOrg({ org: { name: uniqueName("other") } });
    await api.members.createMember({ parentPath: other.path, member: { name: "mallory" } });
    const field = ["group_member.member_path"];
    expect(await failureOf(join("a", `${other.path}/members/mallory`))).toMatchObject({
      code: "InvalidArgument",
      fields: field,
      message: expect.stringContaining(org),
    });
    expect(await failureOf(join("a", `${org}/members/nobody`))).toMatchObject({ code: "NotFound" });
    for (const path of [
      "",
      "alice",
      `${org}/groups/a`,
      `${org}/members/-`,
      "orgs/-/members/alice",
      `${org}/members/A`,
    ]) {
      expect(await failureOf(join("a", path))).toMatchObject({ code: "InvalidArgument", fields: field });
    }
    expect(await failureOf(join("nowhere"))).toMatchObject({ code: "NotFound" });
  });

  test("a membership ends at its expire time", async () => {
    const membership = await join("a");
    const expireTime = inAnHour();
    const updated = await api.groupMembers.updateGroupMember({ path: membership.path, groupMember: { expireTime } });
    expect(updated.expireTime?.seconds).toBe(expireTime.seconds);
    const past = { expireTime: timestampFromDate(new Date(Date.now() - 1000)) };
    expect(
      await failureOf(api.groupMembers.updateGroupMember({ path: membership.path, groupMember: past })),
    ).toMatchObject({ code: "InvalidArgument", fields: ["group_member.expire_time"] });
    await expireAll(server.databaseUrl);
    expect(await membersOf("a")).toEqual([]);
    expect(await failureOf(api.groupMembers.getGroupMember({ path: membership.path }))).toMatchObject({
      code: "NotFound",
    });
    expect((await join("a")).expireTime).toBeUndefined();
  });

  test("the member of a membership cannot be changed", async () => {
    await api.members.createMember({ parentPath: org, member: { name: "bob" } });
    const { path } = await join("a");
    const groupMember = { memberPath: `${org}/members/bob` };
    expect(await failureOf(api.groupMembers.updateGroupMember({ path, groupMember }))).toMatchObject({
      code: "InvalidArgument",
      fields: ["group_member.member_path"],
    });
  });

  test("a deleted member is in no group, and neither is a new member with the same name", async () => {
    await join("a");
    await api.members.deleteMember({ path: `${org}/members/alice` });
    expect(await membersOf("a")).toEqual([]);
    await api.members.createMember({ parentPath: org, member: { name: "alice" } });
    expect(await membersOf("a")).toEqual([]);
    await join("a");
  });

  test("leaving a group does not delete the member", async () => {
    const { path, memberPath } = await join("a");
    await api.groupMembers.deleteGroupMember({ path });
    expect(await membersOf("a")).toEqual([]);
    await api.members.getMember({ path: memberPath });
  });

  test("a group can be nested in another one, and removed from it", async () => {
    const subgroup = await nest("a", "b");
    expect(subgroup).toMatchObject({ path: `${org}/groups/a/subgroups/b`, groupPath: `${org}/groups/b`, name: "b" });
    expect(await api.groupMembers.getSubgroup({ path: subgroup.path })).toEqual(subgroup);
    const updated = await api.groupMembers.updateSubgroup({
      path: subgroup.path,
      subgroup: { description: "on call" },
    });
    const { subgroups } = await api.groupMembers.listSubgroups({ parentPath: `${org}/groups/-` });
    expect(subgroups).toEqual([updated]);
    expect(await failureOf(nest("a", "b"))).toMatchObject({ code: "AlreadyExists" });
    await api.groupMembers.deleteSubgroup({ path: subgroup.path });
    expect((await api.groupMembers.listSubgroups({ parentPath: `${org}/groups/a` })).subgroups).toEqual([]);
  });

  test("a subgroup that closes a cycle of any length is refused", async () => {
    await nest("a", "b");
    await nest("b", "c");
    for (const [outer, inner] of [
      ["a", "a"],
      ["b", "a"],
      ["c", "a"],
    ] as const) {
      expect(await failureOf(nest(outer, inner))).toMatchObject({
        code: "FailedPrecondition",
        reason: "SUBGROUP_CYCLE",
      });
    }
    await nest("a", "c");
  });

  test("deleting a group deletes its memberships and subgroups", async () => {
    await join("b");
    await nest("a", "b");
    await nest("b", "c");
    await api.groups.deleteGroup({ path: `${org}/groups/b` });
    expect((await api.groupMembers.listSubgroups({ parentPath: `${org}/groups/-` })).subgroups).toEqual([]);
    expect((await api.groupMembers.listGroupMembers({ parentPath: `${org}/groups/-` })).members).toEqual([]);
    await api.members.getMember({ path: `${org}/members/alice` });
  });

  test("a `-` for the group is accepted only if it leaves one membership", async () => {
    const { id } = await join("a");
    const failure = await failureOf(api.groupMembers.getGroupMember({ path: `${org}/groups/-/members/@${id}` }));
    expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["path"] });
    const group = await api.groups.getGroup({ path: `${org}/groups/a` });
    const found = await api.groupMembers.getGroupMember({ path: `orgs/-/groups/@${group.id}/members/alice` });
    expect(found.path).toBe(`${org}/groups/a/members/alice`);
  });
});

/** Sets the expire time to the past. */
async function expireAll(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    "update group_members set expire_time = now() - interval '1 second' where expire_time is not null",
  );
  await client.end();
}
