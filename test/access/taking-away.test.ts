// Nobody takes from others what they do not hold themselves, unless they hold the permission to do so.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import { required } from "../../src/errors/required.ts";
import { createPredefinedRoles } from "../../src/iam/roles/predefined-roles.ts";
import { createMethodTable, permissionsOfMethods } from "../../src/rpc/method-table.ts";
import { services } from "../../src/rpc/services.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { rounds } from "../support/rounds.ts";
import { openSqlClient } from "../support/sql.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type CastMember, type OrgCast, createOrgCast } from "./org-cast.ts";
import { ways } from "./taking-ways.ts";

const revokeUnheld = "iam.roleBindings.revokeUnheld";
const [owner, admin, viewer] = ["/roles/owner", "/roles/admin", "/roles/viewer"] as const;

/** What owners may do and admins may not. */
const ownersOnly = "iam.orgs.delete";

const table = createMethodTable(services);
const predefinedRoles = createPredefinedRoles(permissionsOfMethods(table), registry.definitions);
const writes = [...table].flatMap(([{ name }, { reads, permission, typedPermission, createPermission }]) =>
  // Methods about tokens require none.
  reads ? [] : [{ method: name, permission: permission ?? typedPermission ?? "", createPermission }],
);

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const inHours = (hours: number) => timestampFromDate(new Date(Date.now() + hours * 3_600_000));

const expectExceeds = async (call: Promise<unknown>, metadata: object = {}): Promise<void> => {
  const failure = await failureOf(call);
  expect(failure).toMatchObject({
    code: "PermissionDenied",
    reason: "REVOKE_EXCEEDS_OWN",
    metadata: { ...metadata, required_permission: revokeUnheld },
  });
};

test("each method that writes says whether it takes anything from anybody", () => {
  expect(Object.keys(ways).toSorted()).toEqual(writes.map(({ method }) => method).toSorted());
});

const cases = writes.flatMap(({ method, permission, createPermission }) => {
  const ofMethod = ways[method] ?? "";
  if (typeof ofMethod === "string") return [];
  return Object.entries(ofMethod).map(([kind, way]) => {
    const createsToo = kind.includes("allow_missing") && createPermission !== undefined;
    return { method, kind, way, permissions: createsToo ? [permission, createPermission] : [permission] };
  });
});

describe("with two owners", () => {
  let cast: OrgCast;
  /** Members who hold each predefined role, and one with two custom roles. */
  let callers: Map<string, CastMember>;

  beforeAll(async () => {
    cast = await createOrgCast("gRPC", server);
    await cast.member("other-owner", owner);
    callers = new Map();
    for (const { name } of predefinedRoles) callers.set(name, await cast.member(uniqueName(name), `/roles/${name}`));
    const all = [...new Set(cases.flatMap(({ permissions }) => permissions))];
    const [takes, revokes] = [await cast.role("takes", ...all), await cast.role("revokes", revokeUnheld)];
    callers.set("a custom role", await cast.member(uniqueName("takes"), takes));
    callers.set("a custom role to revoke", await cast.member(uniqueName("revokes"), takes, revokes));
  });

  const mayTry = (role: string, permissions: readonly string[]): boolean => {
    const predefined = predefinedRoles.find(({ name }) => name === role);
    if (predefined === undefined) return true;
    return permissions.every(
      (permission) => predefined.permissions === "*" || predefined.permissions.includes(permission),
    );
  };

  const outcomeOf = async (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => "done",
      async (error: unknown) => (await failureOf(Promise.reject(error))).reason ?? "",
    );

  const numbered = cases.map((each, index) => ({ ...each, index }));
  describe.each(numbered)("$method: $kind", ({ way, permissions, index }) => {
    test("takes what an owner holds only for who may revoke", async () => {
      const take = await way(cast, { rolePath: owner, permission: ownersOnly });
      const outcomes: Record<string, string> = {};
      const expected: Record<string, string> = {};
      // The roles without the permission of the method take turns, and `npm run soak` tries all of them.
      const lacking = [...callers].filter(([role]) => !mayTry(role, permissions));
      const inTurn = lacking.filter((_, each) => each === index % lacking.length);
      const trying = [...callers].filter(([role]) => mayTry(role, permissions));
      for (const [role, { api }] of [...trying, ...rounds(inTurn, lacking)]) {
        outcomes[role] = await outcomeOf(take(api, { validateOnly: true }));
        // What is refused, is refused for real, too. Those who are refused take turns.
        const isTried = rounds(Object.keys(outcomes).length % 4 === index % 4, true);
        if (isTried && outcomes[role] !== "done") expect(await outcomeOf(take(api, {}))).toBe(outcomes[role]);
        const isHolder = role === "owner" || role === "a custom role to revoke";
        const refusal = mayTry(role, permissions) ? "REVOKE_EXCEEDS_OWN" : "PERMISSION_DENIED";
        expected[role] = isHolder ? "done" : refusal;
      }
      expect(outcomes).toEqual(expected);
      await take(required(callers.get("a custom role to revoke")).api, {});
    });

    const holding = predefinedRoles.map(({ name }) => name).filter((role) => mayTry(role, permissions));
    // The roles take turns, and `npm run soak` tries all of them.
    test.each(rounds([required(holding[index % holding.length])], holding))(
      "takes from others what the caller holds itself: %s",
      async (role) => {
        const take = await way(cast, { rolePath: `/roles/${role}`, permission: required(permissions[0]) });
        await take(required(callers.get(role)).api, {});
      },
    );
  });
});

describe("while there is another owner", () => {
  let cast: OrgCast;
  let org: string;
  let boss: CastMember;
  beforeEach(async () => {
    cast = await createOrgCast("gRPC", server);
    org = cast.org.path;
    boss = await cast.member("boss", owner);
    await cast.member("other-owner", owner);
  });

  test("a members-admin neither deletes nor suspends an owner", async () => {
    const { api } = await cast.member("alice", "/roles/members-admin");
    const { path } = boss;
    const lost = { permission: "*", resource: org };
    await expectExceeds(api.members.deleteMember({ path }), lost);
    await expectExceeds(api.members.suspendMember({ path }), lost);
    await expectExceeds(api.members.deleteMember({ path, validateOnly: true }), lost);
    expect(await failureOf(api.members.deleteMember({ path }))).toMatchObject({
      message: `this would take away * (every permission) on ${org}: the caller must hold it there itself, without a condition or an expire time, or hold ${revokeUnheld}`,
    });
    expect(await cast.may(path, ownersOnly, org)).toBe(true);
    await api.members.deleteMember({ path: (await cast.member("bob")).path });
  });

  test("an access-admin does not unbind an admin", async () => {
    const { api } = await cast.member("alice", "/roles/access-admin");
    const bob = await cast.member("bob");
    const path = await cast.grant(org, bob.path, admin);
    await expectExceeds(api.roleBindings.deleteRoleBinding({ path }), { resource: org });
    expect(await cast.may(bob.path, "iam.projects.create", org)).toBe(true);
    await api.roleBindings.deleteRoleBinding({ path: await cast.grant(org, bob.path, viewer) });
  });

  test("an editor neither deletes nor empties a group that holds admin", async () => {
    const { api } = await cast.member("alice", "/roles/editor");
    const path = await cast.group("admins", admin);
    const bob = await cast.member("bob");
    await cast.join(path, bob.path);
    await expectExceeds(api.groups.deleteGroup({ path }), { resource: org });
    await expectExceeds(api.groupMembers.deleteGroupMember({ path: `${path}/members/bob` }), { resource: org });
    expect(await cast.may(bob.path, "iam.members.create", org)).toBe(true);
    await api.groups.deleteGroup({ path: await cast.group("editors", "/roles/editor") });
  });

  test("an owner removes an owner, and an admin only admins", async () => {
    const alice = await cast.member("alice", admin);
    await expectExceeds(alice.api.members.deleteMember({ path: boss.path }), { resource: org });
    await alice.api.members.deleteMember({ path: (await cast.member("bob", admin)).path });
    const other = await cast.member("third-owner", owner);
    await other.api.members.deleteMember({ path: boss.path });
    expect(await cast.may(other.path, ownersOnly, org)).toBe(true);
  });
});

describe("what one takes away", () => {
  let cast: OrgCast;
  let org: string;
  beforeEach(async () => {
    cast = await createOrgCast("gRPC", server);
    org = cast.org.path;
    await cast.member("boss", owner);
  });

  const remover = async (name: string, ...permissions: string[]): Promise<CastMember> =>
    cast.member(name, await cast.role(uniqueName("role"), ...permissions));

  test("can be one's own: a membership, a binding, a key, and oneself", async () => {
    const removals = ["groupMembers", "roleBindings", "apiKeys", "members"].map((each) => `iam.${each}.delete`);
    const alice = await remover("alice", ...removals, "iam.groupMembers.update", "iam.roleBindings.update");
    const { api, path } = alice;
    // For a time only, so that she holds nothing that she could take from others.
    const membership = await cast.join(await cast.group("owners", owner), path);
    await api.groupMembers.updateGroupMember({ path: membership, groupMember: { expireTime: inHours(1) } });
    await api.groupMembers.deleteGroupMember({ path: membership });
    const binding = await cast.grant(org, path, owner, { condition: "true" });
    await api.roleBindings.updateRoleBinding({ path: binding, roleBinding: { expireTime: inHours(1) } });
    await api.roleBindings.deleteRoleBinding({ path: binding });
    await cast.grant(org, path, owner, { expireTime: inHours(1) });
    const { path: key } = await cast.api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "k" } });
    await api.apiKeys.deleteApiKey({ path: key });
    await api.members.deleteMember({ path });
  });

  test("must be held without an end and without a condition", async () => {
    const boss = (await cast.member("victim", owner)).path;
    for (const fields of [{ expireTime: inHours(1) }, { condition: "true" }]) {
      const alice = await cast.member(uniqueName("alice"));
      await cast.grant(org, alice.path, owner, fields);
      expect(await cast.may(alice.path, revokeUnheld, org)).toBe(true);
      await expectExceeds(alice.api.members.deleteMember({ path: boss }), { permission: "*", resource: org });
    }
  });

  test("must be held where it is taken away", async () => {
    const web = await cast.project("web");
    const { id } = await cast.api.projects.getProject({ path: web });
    const alice = await cast.member("alice");
    await cast.grant(web, alice.path, admin);
    const bob = await cast.member("bob");
    const remove = (path: string) => alice.api.roleBindings.deleteRoleBinding({ path });
    await remove(await cast.grant(web, bob.path, admin));
    const owning = await cast.grant(web, bob.path, owner);
    // By its id: the caller may not know the name of each project on which others hold something.
    await expectExceeds(remove(owning), { resource: `${org}/projects/@${id}` });
    await cast.grant(web, alice.path, await cast.role("revoker", revokeUnheld));
    await remove(owning);
    const onCustomer = await cast.grant(cast.org.customerPath, bob.path, viewer);
    expect(onCustomer).toContain("/customers/");
    const carol = await cast.member("carol", owner);
    await expectExceeds(carol.api.members.deleteMember({ path: bob.path }), {
      resource: expect.stringMatching(/^\/customers\/@/) as unknown,
    });
  });

  test("is nothing when a custom role is held by nobody, not any more, or by oneself alone", async () => {
    const alice = await cast.member("alice", "/roles/access-admin");
    const make = () => cast.role(uniqueName("role"), ownersOnly);
    const { roles } = alice.api;
    await roles.deleteRole({ path: await make() });
    const own = await make();
    await cast.grant(org, alice.path, own);
    await roles.updateRole({ path: own, role: { permissions: [] }, updateMask: { paths: ["permissions"] } });
    await roles.deleteRole({ path: own });
    const held = await make();
    const binding = await cast.grant(org, await cast.group("team"), held, { expireTime: inHours(1) });
    await expectExceeds(roles.deleteRole({ path: held }), { permission: ownersOnly, resource: org });
    const sql = await openSqlClient(server.databaseUrl);
    await sql.query("update role_bindings set expire_time = now() where name = $1", [binding.split("/").at(-1)]);
    await sql.close();
    await roles.deleteRole({ path: held });
  });

  test("is nothing when a binding or a membership only lasts longer, which is giving", async () => {
    const alice = await remover("alice", "iam.roleBindings.update", "iam.groupMembers.update", revokeUnheld);
    const { roleBindings, groupMembers } = alice.api;
    const bob = (await cast.member("bob")).path;
    const [early, late] = [inHours(1), inHours(2)];
    const binding = await cast.grant(org, bob, owner, { expireTime: late });
    const owners = await cast.group("owners", owner);
    const { path: membership } = await cast.api.groupMembers.createGroupMember({
      parentPath: owners,
      groupMember: { memberPath: bob, expireTime: late },
    });
    const updates = [
      (expireTime: typeof early) => roleBindings.updateRoleBinding({ path: binding, roleBinding: { expireTime } }),
      (expireTime: typeof early) => groupMembers.updateGroupMember({ path: membership, groupMember: { expireTime } }),
    ];
    for (const update of updates) {
      await update(early);
      expect(await failureOf(update(late))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
    }
  });

  test("by a name that conditions read needs the permission to revoke, too", async () => {
    const web = await cast.project("web");
    const bob = await cast.member("bob");
    await cast.grant(org, bob.path, owner, { condition: `resource.path == "${web}"` });
    const rename = ({ api }: CastMember) =>
      api.projects.updateProject({ path: web, project: { name: "shop" }, validateOnly: true });
    const update = "iam.projects.update";
    const grants = await remover("grants", update, "iam.roleBindings.grantUnheld");
    expect(await failureOf(rename(grants))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
    const both = await remover("both", update, "iam.roleBindings.grantUnheld", revokeUnheld);
    expect((await rename(both)).name).toBe("shop");
  });

  test("in a batch is named by its index, and nothing of the batch is done", async () => {
    const { api } = await cast.member("alice", "/roles/members-admin");
    const [bob, carol] = [await cast.member("bob"), await cast.member("carol", viewer)];
    const batch = { parentPath: org, paths: [bob.path, carol.path] };
    await expectExceeds(api.members.batchDeleteMembers(batch), { index: "1", resource: org });
    expect((await cast.api.members.getMember({ path: bob.path })).deleteTime).toBeUndefined();
  });

  test("cannot be widened: only who may revoke passes that on", async () => {
    const alice = await cast.member("alice", admin);
    const role = { name: "revoker", permissions: [revokeUnheld] };
    expect(await failureOf(alice.api.roles.createRole({ parentPath: org, role }))).toMatchObject({
      reason: "GRANT_EXCEEDS_OWN",
    });
  });
});
