// What a limited key passes on and takes away: only what it counts itself.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import {
  type Keyed,
  type KeyedCast,
  confirm,
  createKeyedCast,
  expectExceeds,
  expectLacks,
  inHours,
  keysAdmin,
  owner,
  viewer,
  wanted,
} from "./keyed-cast.ts";
import { type CastMember, type OrgCast } from "./org-cast.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

let cast: OrgCast;
let org: string;
let mallory: CastMember;
let alice: CastMember;
let makeKey: KeyedCast["makeKey"];
let createProject: KeyedCast["createProject"];
beforeEach(async () => {
  ({ cast, org, mallory, alice, makeKey, createProject } = await createKeyedCast(server));
});

describe("a limited key", () => {
  /** Has held the role api-keys-admin from the start, and everything since. */
  let limited: Keyed;
  beforeEach(async () => {
    await cast.grant(org, alice.path, keysAdmin);
    limited = await makeKey(mallory, alice.path);
    await cast.grant(org, alice.path, owner);
  });

  test("confirms neither itself nor another one", async () => {
    const other = await makeKey(mallory, mallory.path);
    await cast.member("bob");
    const ofBob = await makeKey(mallory, `${org}/members/bob`);
    expect([other.key.limited, ofBob.key.limited]).toEqual([false, true]);
    for (const { key } of [limited, other, ofBob]) await expectExceeds(confirm(limited, key));
    await confirm(alice, ofBob.key);
  });

  test("makes keys of its member with the same limit, in every way", async () => {
    const { apiKeys } = limited.api;
    const second = await makeKey(limited, alice.path);
    const path = `${alice.path}/apiKeys/third`;
    const third = await apiKeys.updateApiKey({ path, apiKey: { displayName: "Third" }, allowMissing: true });
    const requests = [{ apiKey: { name: "fourth" } }];
    const { apiKeys: fourth } = await apiKeys.batchCreateApiKeys({ parentPath: alice.path, requests });
    expect([second.key, third, ...fourth].map((key) => key.limited)).toEqual([true, true, true]);
    await expectLacks(createProject(second));
    await second.api.apiKeys.listApiKeys({ parentPath: alice.path });
    expect((await makeKey(alice, alice.path)).key.limited).toBe(false);
  });
});

test("a limited key of an owner makes and confirms keys like somebody who is not one", async () => {
  await cast.grant(org, alice.path, owner);
  const rita = await cast.member("rita", keysAdmin, await cast.role("registrar", "iam.roleBindings.grantUnheld"));
  const limited = await makeKey(rita, alice.path);
  await createProject(limited);
  const bob = await cast.member("bob");
  const ofBob = await makeKey(limited, bob.path);
  expect([limited.key.limited, ofBob.key.limited]).toEqual([true, true]);
  for (const { key } of [limited, ofBob]) await expectExceeds(confirm(limited, key));
  await confirm(alice, ofBob.key);
});

test("a limited key grants only roles that it counts itself", async () => {
  const granter = await cast.role("granter", "iam.roleBindings.create", "iam.groupMembers.create", "iam.roles.create");
  for (const { path } of [alice, mallory]) await cast.grant(org, path, granter);
  const { api } = await makeKey(mallory, alice.path);
  await cast.grant(org, alice.path, owner);
  const [bob, group] = [await cast.member("bob"), await cast.group("viewers", viewer)];
  const bind = (rolePath: string) => {
    const roleBinding = { name: uniqueName("b"), subjectPath: bob.path, rolePath };
    return api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
  };
  await bind(granter);
  await expectExceeds(bind(viewer));
  await expectExceeds(api.groupMembers.createGroupMember({ parentPath: group, groupMember: { memberPath: bob.path } }));
  const role = { name: "more", permissions: [wanted] };
  await expectExceeds(api.roles.createRole({ parentPath: org, role }));
});

test("what a limited key counts for a time, it does not pass on", async () => {
  const granter = await cast.role("granter", "iam.roleBindings.create");
  await cast.grant(org, mallory.path, granter);
  const [outer, forNow, later] = [await cast.group("outer", granter), await cast.group("n"), await cast.group("l")];
  for (const inner of [forNow, later]) await cast.nest(outer, inner);
  const groupMember = { memberPath: alice.path, expireTime: inHours(1) };
  await cast.api.groupMembers.createGroupMember({ parentPath: forNow, groupMember });
  const limited = await makeKey(mallory, alice.path);
  // Through this group she holds the role for good, which the key does not count.
  await cast.join(later, alice.path);
  const bindAs = ({ api }: CastMember) => {
    const roleBinding = { name: uniqueName("b"), subjectPath: mallory.path, rolePath: granter };
    return api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
  };
  await expectExceeds(bindAs(limited));
  await bindAs(alice);
});

describe("a limited key takes away only what it counts itself", () => {
  const takes = ["roleBindings", "apiKeys", "members", "groupMembers", "roles"].map((each) => `iam.${each}.delete`);
  /** Counts what it takes to delete everything of its member. */
  let limited: Keyed;
  beforeEach(async () => {
    const taker = await cast.role("taker", ...takes, "iam.apiKeys.update", "iam.apiKeys.create");
    for (const { path } of [alice, mallory]) await cast.grant(org, path, taker);
    limited = await makeKey(mallory, alice.path);
  });

  /** Gives alice something, and answers what takes it from her. */
  const lossOf: Readonly<Record<string, () => Promise<(api: CastMember["api"]) => Promise<unknown>>>> = {
    "a role binding": async () => {
      const path = await cast.grant(org, alice.path, owner);
      return ({ roleBindings }) => roleBindings.deleteRoleBinding({ path });
    },
    "a membership": async () => {
      const path = await cast.join(await cast.group("owners", owner), alice.path);
      return ({ groupMembers }) => groupMembers.deleteGroupMember({ path });
    },
    "a role that only she holds": async () => {
      const path = await cast.role("more", wanted);
      await cast.grant(org, alice.path, path);
      return ({ roles }) => roles.deleteRole({ path });
    },
    "a role that only her group holds": async () => {
      const path = await cast.role("more", wanted);
      await cast.join(await cast.group("those-with-more", path), alice.path);
      return ({ roles }) => roles.deleteRole({ path });
    },
    "another key": async () => {
      const { key } = await makeKey(alice, alice.path);
      await cast.grant(org, alice.path, owner);
      return ({ apiKeys }) => apiKeys.deleteApiKey({ path: key.path });
    },
    "her place in the org": async () => {
      await cast.grant(org, alice.path, owner);
      return ({ members }) => members.deleteMember({ path: alice.path });
    },
  };

  test.each(Object.entries(lossOf))("%s", async (_name, prepare) => {
    await cast.member("olga", owner);
    const lose = await prepare();
    expect(await failureOf(lose(limited.api))).toMatchObject({
      code: "PermissionDenied",
      reason: "REVOKE_EXCEEDS_OWN",
    });
    await lose(alice.api);
  });

  test("and deletes itself and its equals while its member holds no more", async () => {
    const second = await makeKey(limited, alice.path);
    for (const { key } of [second, limited]) await limited.api.apiKeys.deleteApiKey({ path: key.path });
  });

  test("and changes its equals, but no key that counts more", async () => {
    const own = await makeKey(alice, alice.path);
    await cast.grant(org, alice.path, owner);
    const rename = ({ key: { path } }: Keyed) =>
      limited.api.apiKeys.updateApiKey({ path, apiKey: { displayName: "Renamed" } });
    await rename(limited);
    await rename(await makeKey(limited, alice.path));
    await expectExceeds(rename(own));
  });
});
