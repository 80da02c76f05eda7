// Tests all ways in which an org could lose its last owner, and which owners count.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApi } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { type OrgCast, createOrgCast } from "./org-cast.ts";

const owner = "/roles/owner";
const ownersOnly = "iam.orgs.delete";
const inHours = (hours: number) => timestampFromDate(new Date(Date.now() + hours * 3_600_000));

/** Two servers, so that the state of one server cannot protect the owner. */
let server: SharedServer;
let second: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
  second = await secondSharedServer();
});

let cast: OrgCast;
let org: string;
let alice: string;
beforeEach(async () => {
  cast = await createOrgCast("gRPC", server);
  org = cast.org.path;
  ({ path: alice } = await cast.member("alice"));
});

/** Makes alice an owner, and returns a function that takes this away. */
type Way = () => Promise<() => Promise<unknown>>;

/** With a binding of the member. */
const byBinding =
  (take: (path: string) => Promise<unknown>): Way =>
  async () => {
    const path = await cast.grant(org, alice, owner);
    return () => take(path);
  };

interface Groups {
  readonly outer: string;
  readonly inner: string;
  readonly nesting: string;
  readonly membership: string;
}

/** With a binding of a group in which the member's group is nested. */
const byGroups =
  (take: (groups: Groups) => Promise<unknown>): Way =>
  async () => {
    const [outer, inner] = [await cast.group("outer", owner), await cast.group("inner")];
    const [nesting, membership] = [await cast.nest(outer, inner), await cast.join(inner, alice)];
    return () => take({ outer, inner, nesting, membership });
  };

const updateBinding = (path: string, roleBinding: object) =>
  cast.api.roleBindings.updateRoleBinding({ path, roleBinding });

const ways: Record<string, Way> = {
  "deleting the binding": byBinding((path) => cast.api.roleBindings.deleteRoleBinding({ path })),
  "deleting it in a batch": byBinding((path) =>
    cast.api.roleBindings.batchDeleteRoleBindings({ parentPath: org, paths: [path] }),
  ),
  "giving it an end": byBinding((path) => updateBinding(path, { expireTime: inHours(1000) })),
  "giving it a later start": byBinding((path) => updateBinding(path, { startTime: inHours(1) })),
  "giving it a condition": byBinding((path) => updateBinding(path, { condition: "context.vip" })),
  "suspending the member": byBinding(() => cast.api.members.suspendMember({ path: alice })),
  "deleting the member": byBinding(() => cast.api.members.deleteMember({ path: alice })),
  "deleting the member in a batch": byBinding(() =>
    cast.api.members.batchDeleteMembers({ parentPath: org, paths: [alice] }),
  ),
  "suspending the member of a group": byGroups(() => cast.api.members.suspendMember({ path: alice })),
  "deleting the member of a group": byGroups(() => cast.api.members.deleteMember({ path: alice })),
  "deleting the membership": byGroups(({ membership }) =>
    cast.api.groupMembers.deleteGroupMember({ path: membership }),
  ),
  "deleting it in a batch of memberships": byGroups(({ inner, membership }) =>
    cast.api.groupMembers.batchDeleteGroupMembers({ parentPath: inner, paths: [membership] }),
  ),
  "giving the membership an end": byGroups(({ membership: path }) =>
    cast.api.groupMembers.updateGroupMember({ path, groupMember: { expireTime: inHours(1000) } }),
  ),
  "removing the nested group": byGroups(({ nesting }) => cast.api.groupMembers.deleteSubgroup({ path: nesting })),
  "removing it in a batch": byGroups(({ outer, nesting }) =>
    cast.api.groupMembers.batchDeleteSubgroups({ parentPath: outer, paths: [nesting] }),
  ),
  "deleting the inner group": byGroups(({ inner }) => cast.api.groups.deleteGroup({ path: inner })),
  "deleting the outer group": byGroups(({ outer }) => cast.api.groups.deleteGroup({ path: outer })),
  "deleting both groups": byGroups(({ outer, inner }) =>
    cast.api.groups.batchDeleteGroups({ parentPath: org, paths: [outer, inner] }),
  ),
};

describe.each(Object.entries(ways))("%s", (_name, way) => {
  test("is rejected for the last owner and changes nothing, and succeeds if there is another owner", async () => {
    const take = await way();
    expect(await failureOf(take())).toMatchObject({
      code: "FailedPrecondition",
      reason: "LAST_OWNER",
      metadata: { resource: org },
    });
    expect(await cast.may(alice, ownersOnly, org)).toBe(true);

    const bob = await cast.member("bob", owner);
    await take();
    expect(await cast.may(bob.path, ownersOnly, org)).toBe(true);
  });
});

describe("another owner does not count", () => {
  const others: Record<string, (bob: string) => Promise<unknown>> = {
    "with an expiring binding": (bob) => cast.grant(org, bob, owner, { expireTime: inHours(1) }),
    "with a binding that starts later": (bob) => cast.grant(org, bob, owner, { startTime: inHours(1) }),
    "with a conditional binding": (bob) => cast.grant(org, bob, owner, { condition: "context.vip" }),
    "of a project": async (bob) => cast.grant(await cast.project("web"), bob, owner),
    "with a custom role of the same name": async (bob) => cast.grant(org, bob, await cast.role("owner", ownersOnly)),
    "with an expiring membership": async (memberPath) => {
      const parentPath = await cast.group("owners", owner);
      await cast.api.groupMembers.createGroupMember({
        parentPath,
        groupMember: { memberPath, expireTime: inHours(1) },
      });
    },
    "who is suspended": async (path) => {
      await cast.grant(org, path, owner);
      await cast.api.members.suspendMember({ path });
    },
    "who is deleted": async (path) => {
      await cast.grant(org, path, owner);
      await cast.api.members.deleteMember({ path });
    },
  };

  test.each(Object.entries(others))("%s", async (_name, make) => {
    const path = await cast.grant(org, alice, owner);
    await make((await cast.member("bob")).path);
    expect(await failureOf(cast.api.roleBindings.deleteRoleBinding({ path }))).toMatchObject({ reason: "LAST_OWNER" });
  });
});

test("rejects a batch that removes all owners", async () => {
  const bob = (await cast.member("bob", owner)).path;
  const path = await cast.grant(org, alice, owner);
  const { roleBindings } = await cast.api.roleBindings.listRoleBindings({ parentPath: org });
  const paths = roleBindings.map((binding) => binding.path);
  expect(paths).toContain(path);
  expect(await failureOf(cast.api.roleBindings.batchDeleteRoleBindings({ parentPath: org, paths }))).toMatchObject({
    reason: "LAST_OWNER",
  });
  const members = { parentPath: org, paths: [alice, bob] };
  expect(await failureOf(cast.api.members.batchDeleteMembers(members))).toMatchObject({ reason: "LAST_OWNER" });
  for (const subject of [alice, bob]) expect(await cast.may(subject, ownersOnly, org)).toBe(true);
});

test("an org without a permanent owner can lose its last temporary one", async () => {
  const path = await cast.grant(org, alice, owner, { expireTime: inHours(1) });
  await cast.api.roleBindings.deleteRoleBinding({ path });
  expect(await failureOf(cast.api.roleBindings.getRoleBinding({ path }))).toMatchObject({
    reason: "RESOURCE_NOT_FOUND",
  });
  const { deleteTime } = await cast.api.members.deleteMember({ path: alice });
  expect(deleteTime).toBeDefined();
});

test("one of two owners stays if two servers remove them concurrently", async () => {
  const elsewhere = createApi("gRPC", second.url, server.operatorKey);
  for (let round = 0; round < rounds(4, 200); round++) {
    const place = await createOrgCast("gRPC", server);
    const { path: parent } = place.org;
    const [one, other] = [(await place.member("one")).path, (await place.member("other")).path];
    const [ofOne, ofOther] = [await place.grant(parent, one, owner), await place.grant(parent, other, owner)];
    const calls = [
      place.api.roleBindings.deleteRoleBinding({ path: ofOne }),
      round % 2 === 0
        ? elsewhere.roleBindings.deleteRoleBinding({ path: ofOther })
        : elsewhere.members.suspendMember({ path: other }),
    ];
    const results = await Promise.allSettled(calls);
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const owners = [await place.may(one, ownersOnly, parent), await place.may(other, ownersOnly, parent)];
    expect(owners.filter(Boolean)).toHaveLength(1);
  }
});
