// A key that somebody else makes for a person counts nothing that the person is granted later, until it is confirmed.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { ApiKey } from "../../gen/iam/v1alpha/api_key_pb.ts";
import { Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { required } from "../../src/errors/required.ts";
import { createAccessClient } from "../support/access-place.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { isOnNamedServer } from "../support/named-server.ts";
import { openSqlClient } from "../support/sql.ts";
import { rounds, soakTimeoutMs } from "../support/rounds.ts";
import { openRaw, parseAnswer } from "../http/raw-client.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { protocolsInTurn } from "../support/transports.ts";
import { type CastMember, type OrgCast, createOrgCast } from "./org-cast.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const [owner, admin, viewer, keysAdmin] = [
  "/roles/owner",
  "/roles/admin",
  "/roles/viewer",
  "/roles/api-keys-admin",
] as const;

/** What alice is granted later, in one way or another. */
const wanted = "iam.projects.create";

const inHours = (hours: number) => timestampFromDate(new Date(Date.now() + hours * 3_600_000));

/** A member who uses a key, and the key. */
interface Keyed extends CastMember {
  readonly key: ApiKey;
}

let cast: OrgCast;
let org: string;
/** The api-keys-admin. */
let mallory: CastMember;
/** Has a key that the operator made. */
let alice: CastMember;
beforeEach(async () => {
  cast = await createOrgCast("gRPC", server);
  org = cast.org.path;
  mallory = await cast.member("mallory", keysAdmin);
  alice = await cast.member("alice");
});

/** Makes a key of a member as somebody. */
const makeKey = async ({ api }: Pick<CastMember, "api">, path: string, fields: object = {}): Promise<Keyed> => {
  const key = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: uniqueName("key"), ...fields } });
  const { url } = server;
  return { path, key, api: createApi("gRPC", url, key.secret), access: createAccessClient("gRPC", url, key.secret) };
};

const createProject = ({ api }: CastMember, parentPath = org) =>
  api.projects.createProject({ parentPath, project: { name: uniqueName("web") } });

const confirm = ({ api }: Pick<CastMember, "api">, { path }: ApiKey, fields: object = {}) =>
  api.apiKeys.confirmApiKey({ path, ...fields });

const expectLacks = async (call: Promise<unknown>): Promise<void> => {
  const failure = await failureOf(call);
  expect(failure).toMatchObject({ code: "PermissionDenied", reason: "PERMISSION_DENIED" });
  expect(failure.metadata["limited"]).toBe("true");
  expect(failure.message).toContain("its API key is limited");
};

const expectExceeds = async (call: Promise<unknown>): Promise<void> => {
  expect(await failureOf(call)).toMatchObject({ code: "PermissionDenied", reason: "GRANT_EXCEEDS_OWN" });
};

/** A role with what is wanted, which mallory holds. */
const heldRole = async (): Promise<string> => {
  const role = await cast.role(uniqueName("worker"), wanted, "iam.apiKeys.confirm");
  await cast.grant(org, mallory.path, role);
  return role;
};

/** Prepares what alice holds when the key is made, and answers what gives her more later. */
const ways: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  "a role binding": () => Promise.resolve(() => cast.grant(org, alice.path, owner)),

  "a group that she joins": async () => {
    const group = await cast.group("owners", owner);
    return () => cast.join(group, alice.path);
  },

  "a role binding of her group": async () => {
    const group = await cast.group("team");
    await cast.join(group, alice.path);
    return () => cast.grant(org, group, owner);
  },

  "a group in which hers is nested": async () => {
    const [outer, middle, inner] = [await cast.group("owners", owner), await cast.group("m"), await cast.group("i")];
    await cast.nest(middle, inner);
    await cast.join(inner, alice.path);
    return () => cast.nest(outer, middle);
  },

  "a role that is widened": async () => {
    const path = await cast.role("reader", "iam.apiKeys.confirm");
    await cast.grant(org, alice.path, path);
    return () => cast.api.roles.updateRole({ path, role: { permissions: ["iam.apiKeys.confirm", wanted] } });
  },

  "a role binding that is extended": async () => {
    const path = await cast.grant(org, alice.path, await heldRole(), { expireTime: inHours(1) });
    return () => cast.api.roleBindings.updateRoleBinding({ path, roleBinding: { expireTime: inHours(99) } });
  },

  "a role binding that loses its condition": async () => {
    const path = await cast.grant(org, alice.path, await heldRole(), { condition: "context.vip" });
    const updateMask = { paths: ["condition"] };
    return () => cast.api.roleBindings.updateRoleBinding({ path, roleBinding: {}, updateMask });
  },

  "a membership that is extended": async () => {
    const parentPath = await cast.group("workers", await heldRole());
    const groupMember = { memberPath: alice.path, expireTime: inHours(1) };
    const { path } = await cast.api.groupMembers.createGroupMember({ parentPath, groupMember });
    return () => cast.api.groupMembers.updateGroupMember({ path, groupMember: { expireTime: inHours(99) } });
  },
};

const confirming: readonly ("she" | "an owner")[] = ["she", "an owner"];

describe.each(Object.entries(ways))("what she gets later by %s", (way, prepare) => {
  // They take turns, and in `npm run soak` both confirm.
  const turn = Object.keys(ways).indexOf(way) + (isOnNamedServer ? 1 : 0);
  const inTurn = required(confirming[turn % 2]);

  test.each(rounds([inTurn], confirming))("counts when %s has confirmed the key", async (who) => {
    const grant = await prepare();
    const limited = await makeKey(mallory, alice.path);
    expect(limited.key.limited).toBe(true);
    await grant();
    await expectLacks(createProject(limited));
    await createProject(alice);
    await expectExceeds(confirm(mallory, limited.key));
    await expectLacks(createProject(limited));
    const confirmed = await confirm(who === "she" ? alice : await cast.member("olga", owner), limited.key);
    expect(confirmed).toMatchObject({ path: limited.key.path, limited: false });
    await createProject(limited);
  });
});

test("what she holds when the key is made counts, through groups too, and what she loses does not", async () => {
  const role = await heldRole();
  const [outer, inner] = [await cast.group("outer", role), await cast.group("inner")];
  await cast.nest(outer, inner);
  const membership = await cast.join(inner, alice.path);
  const limited = await makeKey(mallory, alice.path);
  await createProject(limited);
  // Another way to the same binding changes nothing.
  await cast.join(outer, alice.path);
  await createProject(limited);
  await cast.api.groupMembers.deleteGroupMember({ path: membership });
  await createProject(alice);
  await expectLacks(createProject(limited));
});

test("what is granted on the customer later is not counted by an owner of the org, who lacks it", async () => {
  const limited = await makeKey(mallory, alice.path);
  await cast.grant(cast.org.customerPath, alice.path, owner);
  const olga = await cast.member("olga", owner);
  await expectLacks(createProject(limited));
  await expectExceeds(confirm(olga, limited.key));
  await confirm(alice, limited.key);
  await createProject(limited);
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

test("a limited key does not rename an org by what was granted on the platform later", async () => {
  // On the platform, roles are granted only to members of this org.
  const system = "/orgs/system";
  const role = { name: uniqueName("renamer"), permissions: ["iam.orgs.update"] };
  const { path: renamer } = await cast.api.roles.createRole({ parentPath: system, role });
  const join = async (): Promise<Keyed> => {
    const { path } = await cast.api.members.createMember({ parentPath: system, member: { name: uniqueName("m") } });
    await cast.grant(system, path, renamer);
    return makeKey(cast, path);
  };
  const [sara, sam] = [await join(), await join()];
  await cast.grant(system, sam.path, keysAdmin);
  const limited = await makeKey(sam, sara.path);
  await cast.grant("", sara.path, owner);
  const rename = ({ api }: Keyed) => api.orgs.updateOrg({ path: system, org: { name: "renamed" }, validateOnly: true });
  expect(await failureOf(rename(limited))).toMatchObject({
    code: "PermissionDenied",
    metadata: { permission: "iam.orgs.create" },
  });
  await rename(sara);
});

test("a decision costs one statement with a limited key, and none with another", async () => {
  await cast.grant(org, alice.path, keysAdmin);
  const limited = await makeKey(mallory, alice.path);
  const unlimited = await makeKey(alice, alice.path);
  const countOf = async ({ api }: Keyed, call: () => Promise<unknown>): Promise<number> => {
    const counts: number[] = [];
    // The fewest, because other work of the server has statements, too.
    for (let round = 0; round < 6; round++) {
      // The first call after a change reads the change.
      await api.apiKeys.getApiKey({ path: unlimited.key.path });
      const query = vi.spyOn(pg.Client.prototype, "query");
      await call();
      counts.push(query.mock.calls.length);
      query.mockRestore();
    }
    return Math.min(...counts);
  };
  const countsOf = async (keyed: Keyed) => ({
    get: await countOf(keyed, () => keyed.api.apiKeys.getApiKey({ path: unlimited.key.path })),
    update: await countOf(keyed, () =>
      keyed.api.apiKeys.updateApiKey({ path: limited.key.path, apiKey: { displayName: uniqueName("k") } }),
    ),
  });
  // The key with the head of the org, and the row; a write decides again under its lock. Its deadline is sent with its beginning.
  expect(await countsOf(unlimited)).toEqual({ get: 2, update: 8 });
  expect(await countsOf(limited)).toEqual({ get: 3, update: 10 });
});

test("neither questions, lists, searches nor previews count more", async () => {
  const { customerPath } = cast.org;
  const other = await cast.api.orgs.createOrg({ org: { name: uniqueName("other"), customerPath } });
  const bob = await cast.api.members.createMember({ parentPath: other.path, member: { name: "bob" } });
  await cast.grant(customerPath, bob.path, viewer);
  const starts = await cast.role("starts", "compute.instances.start");
  const group = await cast.group("starters", starts);
  const checks = await cast.role("checks", "iam.access.check", "iam.groupMembers.create", "compute.instances.start");
  for (const { path } of [alice, mallory]) await cast.grant(org, path, checks);
  const limited = await makeKey(mallory, alice.path);
  await cast.grant(customerPath, alice.path, viewer);

  const ask = async ({ api, access }: CastMember) => {
    const permissions = ["iam.access.check", "iam.orgs.get"];
    const held = await access.testPermissions({ resourcePath: org, permissions });
    // About somebody of another org of the customer.
    const question = { subjectPath: bob.path, permission: "iam.orgs.get", resourcePath: org };
    const { allowed } = await access.checkAccess(question);
    const listed = await api.orgs.listOrgs({}).then(
      ({ orgs }) => orgs.length,
      () => 0,
    );
    const groupMember = { memberPath: mallory.path };
    const request = { parentPath: group, groupMember, validateOnly: true };
    const { accessPreview } = await api.groupMembers.createGroupMember(request);
    return { held: held.permissions, allowed, listed, trimmed: accessPreview?.trimmed };
  };
  const all = { held: ["iam.access.check", "iam.orgs.get"], allowed: true, listed: 2, trimmed: false };
  expect(await ask(limited)).toEqual({ held: ["iam.access.check"], allowed: false, listed: 0, trimmed: true });
  expect(await ask(alice)).toEqual(all);
  await confirm(cast, limited.key);
  expect(await ask(limited)).toEqual(all);
});

describe("a key of a person is limited when it is made by", () => {
  const makers: Readonly<Record<string, () => Promise<Pick<CastMember, "api">>>> = {
    "an admin": () => cast.member("adam", admin),
    "an owner for a time": async () => {
      const otto = await cast.member("otto", keysAdmin);
      await cast.grant(org, otto.path, owner, { expireTime: inHours(1) });
      return otto;
    },
    "an owner under a condition": async () => {
      const otto = await cast.member("otto", keysAdmin);
      await cast.grant(org, otto.path, owner, { condition: "request.time > timestamp('2020-01-01T00:00:00Z')" });
      return otto;
    },
    "a member who may grant what it does not hold": async () =>
      cast.member("rita", keysAdmin, await cast.role("registrar", "iam.roleBindings.grantUnheld")),
    "an owner of a project": async () => {
      const otto = await cast.member("otto", keysAdmin);
      await cast.grant(await cast.project("web"), otto.path, owner);
      return otto;
    },
  };

  test.each(Object.entries(makers))("%s", async (_name, maker) => {
    const limited = await makeKey(await maker(), alice.path);
    expect(limited.key.limited).toBe(true);
    await cast.grant(org, alice.path, viewer);
    await expectLacks(limited.api.projects.listProjects({ parentPath: org }));
  });
});

test("a key is not limited when an owner, the operator or the member makes it", async () => {
  const olga = await cast.member("olga", owner);
  const oscar = await cast.member("oscar");
  await cast.join(await cast.group("owners", owner), oscar.path);
  for (const maker of [olga, oscar, cast]) expect((await makeKey(maker, alice.path)).key.limited).toBe(false);
  await cast.grant(org, alice.path, keysAdmin);
  const own = await makeKey(alice, alice.path);
  expect(own.key.limited).toBe(false);
  await cast.grant(org, alice.path, owner);
  await createProject(own);
});

describe("confirming", () => {
  test("is refused to holders of the permission who are neither the member nor an owner", async () => {
    const limited = await makeKey(mallory, alice.path);
    const rita = await cast.member("rita", admin, await cast.role("unheld", "iam.roleBindings.grantUnheld"));
    for (const caller of [rita, mallory]) {
      const failure = await failureOf(confirm(caller, limited.key));
      expect(failure).toMatchObject({
        code: "PermissionDenied",
        reason: "GRANT_EXCEEDS_OWN",
        message:
          "an API key is confirmed by its member or by an owner of the org, with an API key that is not limited itself",
        metadata: { role: owner },
      });
    }
    // Also of a key that is not limited.
    await expectExceeds(confirm(mallory, (await makeKey(cast, alice.path)).key));
    // The member needs the permission, too.
    expect(await failureOf(confirm(alice, limited.key))).toMatchObject({
      metadata: { permission: "iam.apiKeys.confirm" },
    });
    expect((await cast.api.apiKeys.getApiKey({ path: limited.key.path })).limited).toBe(true);
  });

  test("of a key that is not limited changes nothing, and of one that is missing fails", async () => {
    const { key } = await makeKey(cast, alice.path);
    const { secret: _secret, ...shown } = key;
    expect(await confirm(cast, key)).toEqual(shown);
    const path = `${alice.path}/apiKeys/none`;
    expect(await failureOf(cast.api.apiKeys.confirmApiKey({ path }))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
  });

  test("takes an etag and a request id, and can be only checked", async () => {
    const { key } = await makeKey(mallory, alice.path);
    expect(await confirm(cast, key, { validateOnly: true })).toMatchObject({ limited: false });
    expect(await cast.api.apiKeys.getApiKey({ path: key.path })).toMatchObject({ limited: true, etag: key.etag });
    expect(await failureOf(confirm(cast, key, { etag: cast.org.etag }))).toMatchObject({ reason: "ETAG_STALE" });
    const requestId = crypto.randomUUID();
    const confirmed = await confirm(cast, key, { etag: key.etag, requestId });
    expect(confirmed.limited).toBe(false);
    expect(await confirm(cast, key, { etag: key.etag, requestId })).toEqual(confirmed);
  });

  test("is in the change log, with the limit before and after", async () => {
    const { key } = await makeKey(mallory, alice.path);
    await confirm(cast, key);
    const sql = await openSqlClient(server.databaseUrl);
    const logged = await sql.query(
      `select method, before->>'grants_until' as before, after->>'grants_until' as after from changes
       where resource_id = $1 order by revision`,
      [key.id],
    );
    await sql.close();
    expect(logged).toEqual([
      { method: "iam.v1alpha.ApiKeysService/CreateApiKey", before: null, after: key.etag },
      { method: "iam.v1alpha.ApiKeysService/ConfirmApiKey", before: key.etag, after: null },
    ]);
  });
});

test("lists can be filtered by it, and no update changes it", async () => {
  const { key } = await makeKey(mallory, alice.path);
  const paths = async (filter: string) => {
    const { apiKeys } = await cast.api.apiKeys.listApiKeys({ parentPath: alice.path, filter });
    return apiKeys.map(({ path }) => path);
  };
  expect(await paths("limited = true")).toEqual([key.path]);
  expect(await paths("limited = false")).toHaveLength(1);
  const apiKey = { name: key.name, displayName: "Free", limited: false };
  const updated = await mallory.api.apiKeys.updateApiKey({ path: key.path, apiKey, updateMask: { paths: ["*"] } });
  expect(updated).toMatchObject({ displayName: "Free", limited: true });
});

describe("of an application", () => {
  let robot: string;
  let key: Keyed;
  beforeEach(async () => {
    const member = { name: "robot", type: Member_Type.APPLICATION };
    robot = (await cast.api.members.createMember({ parentPath: org, member })).path;
    key = await makeKey(mallory, robot);
  });

  test("a key counts what the application gains", async () => {
    expect(key.key.limited).toBe(false);
    await cast.grant(org, robot, owner);
    await createProject(key);
  });

  test("the keys are named by the preview of what gives it more, and no other keys", async () => {
    const second = await makeKey(cast, robot, { name: "a-second" });
    const expiring = await makeKey(cast, robot, { expireTime: inHours(1) });
    const sql = await openSqlClient(server.databaseUrl);
    await sql.query("update api_keys set expire_time = now() where id = $1", [expiring.key.id]);
    await sql.close();
    await makeKey(mallory, alice.path);
    const group = await cast.group("viewers", viewer);
    const requests = [alice.path, robot].map((memberPath) => ({ groupMember: { memberPath } }));
    const preview = async ({ api }: Pick<CastMember, "api">) => {
      const answer = await api.groupMembers.batchCreateGroupMembers({
        parentPath: group,
        requests,
        validateOnly: true,
      });
      return answer.accessPreview;
    };
    expect(await preview(cast)).toMatchObject({
      gainingMemberCount: 2,
      apiKeyPaths: [second.key.path, key.key.path],
    });
    await cast.api.groupMembers.batchCreateGroupMembers({ parentPath: group, requests });
    const loses = await cast.api.groups.deleteGroup({ path: group, validateOnly: true });
    expect(loses.accessPreview).toMatchObject({ losingMemberCount: 2, apiKeyPaths: [] });
  });

  test("the preview shows them only to callers who may list keys", async () => {
    const seeing = await cast.role("seeing", "iam.access.explain", "iam.access.list", "iam.roleBindings.create");
    const carl = await cast.member("carl", seeing);
    const preview = async () => {
      const roleBinding = { name: "b", subjectPath: robot, rolePath: seeing };
      const request = { parentPath: org, roleBinding, validateOnly: true };
      return (await carl.api.roleBindings.createRoleBinding(request)).accessPreview;
    };
    expect(await preview()).toMatchObject({ gainingMemberCount: 1, apiKeyPaths: [] });
    await cast.grant(org, carl.path, await cast.role("lists-keys", "iam.apiKeys.list"));
    expect(await preview()).toMatchObject({ gainingMemberCount: 1, apiKeyPaths: [key.key.path] });
  });
});

test.each(protocolsInTurn(["REST", "Connect"]))(
  "over %s, a key is made, limited, confirmed and used",
  async (protocol) => {
    const as = (secret = ""): CastMember => ({ ...alice, api: createApi(protocol, server.url, secret) });
    const maker = as((await makeKey(cast, mallory.path)).key.secret);
    const limited = await makeKey(maker, alice.path);
    await cast.grant(org, alice.path, owner);
    const attacker = as(limited.key.secret);
    await expectLacks(createProject(attacker));
    await expectExceeds(confirm(maker, limited.key));
    const member = as((await makeKey(cast, alice.path)).key.secret);
    expect((await confirm(member, limited.key)).limited).toBe(false);
    await createProject(attacker);
  },
);

/** A role that alice has held since before the key was made, and what widens it. */
async function makeWidened(): Promise<{
  limited: Keyed;
  widen: () => Promise<unknown>;
  narrow: () => Promise<unknown>;
}> {
  const path = await cast.role("reader", "iam.apiKeys.get");
  await cast.grant(org, alice.path, path);
  const update = (...permissions: string[]) => cast.api.roles.updateRole({ path, role: { permissions } });
  return {
    limited: await makeKey(mallory, alice.path),
    widen: () => update("iam.apiKeys.get", wanted, "iam.projects.list"),
    narrow: () => update("iam.apiKeys.get"),
  };
}

test("a call that was authenticated before the grant, and has sent the rest after it, does not count it", async () => {
  const { limited, widen } = await makeWidened();
  const [sql, locking] = [await openSqlClient(server.databaseUrl), await openSqlClient(server.databaseUrl)];
  const connection = await openRaw(Number(new URL(server.url).port));
  try {
    await locking.query("begin");
    await locking.query("lock table api_keys in access exclusive mode");
    const body = '{"name": "web"}';
    connection.socket.write(
      `POST /iam/v1alpha${org}/projects HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${limited.key.secret}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    const stateOf = async (condition: string, ...values: unknown[]) => {
      const text = `select pid, state from pg_stat_activity where datname = current_database() and ${condition}`;
      return (await sql.query(text, values))[0];
    };
    let reading: Record<string, unknown> | undefined;
    while (reading === undefined) reading = await stateOf("wait_event_type = 'Lock'");
    await locking.query("rollback");
    while ((await stateOf("pid = $1", reading["pid"]))?.["state"] !== "idle");
    await widen();
    connection.socket.write(body.slice(5));
    await connection.until("PERMISSION_DENIED");
    expect(parseAnswer(connection.received()).status).toBe(403);
  } finally {
    connection.socket.destroy();
    await Promise.all([sql.close(), locking.close()]);
  }
});

test(
  "while roles are widened and narrowed again, no call counts what is granted",
  async () => {
    const { limited, widen, narrow } = await makeWidened();
    const outcomes = new Set<string>();
    const race = { ended: false };
    const call = async (attempt: () => Promise<unknown>): Promise<void> => {
      while (!race.ended) {
        const code = await attempt().then(
          () => "done",
          async (error: unknown) => (await failureOf(Promise.reject(error))).code ?? "",
        );
        outcomes.add(code);
      }
    };
    const lists = () => limited.api.projects.listProjects({ parentPath: org });
    const calls = [call(lists), call(lists), call(lists), call(() => createProject(limited))];
    for (let round = 0; round < rounds(4, 500); round++) {
      await widen();
      await narrow();
    }
    race.ended = true;
    await Promise.all(calls);
    // A call may be told to try again.
    outcomes.delete("Unavailable");
    expect([...outcomes]).toEqual(["PermissionDenied"]);
  },
  soakTimeoutMs,
);

test("a member with more role bindings than a limited key can count gets keys only from owners and itself", async () => {
  const group = await cast.group("many");
  await cast.join(group, alice.path);
  const roleBindings = Array.from({ length: 1001 }, (_, index) => ({
    roleBinding: { name: `b-${index}`, subjectPath: group, rolePath: keysAdmin },
  }));
  const parentPath = org;
  await cast.api.roleBindings.batchCreateRoleBindings({ parentPath, requests: roleBindings.slice(0, 1000) });
  await cast.api.roleBindings.batchCreateRoleBindings({ parentPath, requests: roleBindings.slice(1000) });
  const create = (api = mallory.api) =>
    api.apiKeys.createApiKey({ parentPath: alice.path, apiKey: { name: uniqueName("key") } });
  expect(await failureOf(create())).toMatchObject({ code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" });
  for (const api of [alice.api, cast.api]) expect((await create(api)).limited).toBe(false);
  await cast.api.roleBindings.deleteRoleBinding({ path: `${org}/roleBindings/b-7` });
  const { limited, secret } = await create();
  expect(limited).toBe(true);
  await createApi("gRPC", server.url, secret).apiKeys.listApiKeys({ parentPath: alice.path });
});
