// Tests that members cannot escalate their access or that of others.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";
import { openWorkplace } from "../support/workplace.ts";
import { permissionFor, verbsOf, writtenResources, isRunByProvider } from "../support/written-resources.ts";
import { type CastMember, type OrgCast, createOrgCast } from "./org-cast.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const [owner, admin, editor, viewer] = ["/roles/owner", "/roles/admin", "/roles/editor", "/roles/viewer"] as const;

/** A permission of owners that admins lack. */
const ownersOnly = "iam.orgs.delete";

const inHours = (hours: number) => timestampFromDate(new Date(Date.now() + hours * 3_600_000));

const reasonOf = async (call: Promise<unknown>): Promise<string | undefined> => (await failureOf(call)).reason;

const expectExceeds = async (call: Promise<unknown>): Promise<void> => {
  expect(await failureOf(call)).toMatchObject({ code: "PermissionDenied", reason: "GRANT_EXCEEDS_OWN" });
};

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  const createApiOf = (secret: string | undefined) => createApi(protocol, server.url, secret);

  let cast: OrgCast;
  let org: string;
  beforeEach(async () => {
    cast = await createOrgCast(protocol, server);
    org = cast.org.path;
  });

  /** Creates a binding as a member of the org. */
  const grantAs = (
    { api }: CastMember,
    parentPath: string,
    subjectPath: string,
    rolePath: string,
    fields: object = {},
  ) =>
    api.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: { name: uniqueName("b"), subjectPath, rolePath, ...fields },
    });

  describe("an admin cannot make an owner", () => {
    let alice: CastMember;
    let bob: CastMember;
    let web: string;
    beforeEach(async () => {
      alice = await cast.member("alice", admin);
      bob = await cast.member("bob");
      web = await cast.project("web");
    });

    test("of itself, another member or a group, on the org or on a project", async () => {
      const group = await cast.group("team");
      await cast.join(group, alice.path);
      for (const scope of [org, web]) {
        for (const subject of [alice.path, bob.path, group]) await expectExceeds(grantAs(alice, scope, subject, owner));
      }
      expect(await cast.may(alice.path, ownersOnly, org)).toBe(false);
    });

    test("for a time, for later, or under a condition", async () => {
      for (const fields of [{ expireTime: inHours(1) }, { startTime: inHours(1) }, { condition: "context.vip" }]) {
        await expectExceeds(grantAs(alice, org, alice.path, owner, fields));
      }
    });

    test("that it holds until one binding ends, and again when another begins", async () => {
      const [ends, begins] = [inHours(1), inHours(2)];
      await cast.grant(org, alice.path, owner, { expireTime: ends });
      await cast.grant(org, alice.path, owner, { startTime: begins });
      for (const subject of [alice.path, bob.path]) await expectExceeds(grantAs(alice, org, subject, owner));
      // One that has begun and does not end is enough, whatever ends beside it.
      await cast.grant(org, alice.path, owner);
      await grantAs(alice, org, bob.path, owner);
    });

    test("in a batch, with allow_missing, or in a validation", async () => {
      const roleBinding = { name: "mine", subjectPath: alice.path, rolePath: owner };
      const { roleBindings } = alice.api;
      const fine = { ...roleBinding, name: "fine", rolePath: viewer };
      const requests = [{ roleBinding: fine }, { roleBinding }];
      await expectExceeds(roleBindings.batchCreateRoleBindings({ parentPath: org, requests }));
      const path = `${org}/roleBindings/mine`;
      await expectExceeds(roleBindings.updateRoleBinding({ path, roleBinding, allowMissing: true }));
      await expectExceeds(roleBindings.createRoleBinding({ parentPath: org, roleBinding, validateOnly: true }));
      const { roleBindings: left } = await cast.api.roleBindings.listRoleBindings({ parentPath: org });
      expect(left.map(({ rolePath }) => rolePath)).toEqual([admin]);
    });

    test("by changing the role or the subject of a binding", async () => {
      const mine = await cast.grant(org, alice.path, viewer);
      const bobs = await cast.grant(org, bob.path, owner);
      const { roleBindings } = alice.api;
      await failureOf(roleBindings.updateRoleBinding({ path: mine, roleBinding: { rolePath: owner } }));
      await failureOf(roleBindings.updateRoleBinding({ path: bobs, roleBinding: { subjectPath: alice.path } }));
      expect(await cast.may(alice.path, ownersOnly, org)).toBe(false);
    });

    test("by removing the time or the condition of a binding", async () => {
      const [start, end] = [inHours(-1), inHours(1)];
      const update = (path: string, paths: string[], roleBinding: object) =>
        alice.api.roleBindings.updateRoleBinding({ path, roleBinding, updateMask: { paths } });
      const expiring = await cast.grant(org, bob.path, owner, { expireTime: end });
      await expectExceeds(update(expiring, ["expire_time"], { expireTime: inHours(2) }));
      await expectExceeds(update(expiring, ["expire_time"], {}));
      const starting = await cast.grant(org, bob.path, owner, { startTime: end });
      await expectExceeds(update(starting, ["start_time"], { startTime: start }));
      const conditional = await cast.grant(org, bob.path, owner, { condition: "context.vip" });
      await expectExceeds(update(conditional, ["condition"], {}));
      expect(await cast.may(bob.path, ownersOnly, web)).toBe(true);
    });

    test("and cannot grant permanently a role that it holds temporarily", async () => {
      const carol = await cast.member("carol");
      const mine = await cast.grant(org, carol.path, admin, { expireTime: inHours(1) });
      await expectExceeds(grantAs(carol, org, carol.path, viewer));
      const { roleBindings } = carol.api;
      await expectExceeds(
        roleBindings.updateRoleBinding({ path: mine, roleBinding: {}, updateMask: { paths: ["expire_time"] } }),
      );
      const dave = await cast.member("dave");
      const groupMember = { memberPath: dave.path, expireTime: inHours(1) };
      const group = await cast.group("admins-for-now", admin);
      await cast.api.groupMembers.createGroupMember({ parentPath: group, groupMember });
      await expectExceeds(grantAs(dave, org, dave.path, viewer));
      expect(await cast.may(dave.path, "iam.roleBindings.create", org)).toBe(true);
    });

    test("and cannot grant now a role that it will hold later", async () => {
      const carol = await cast.member("carol", await cast.role("binder", "iam.roleBindings.create"));
      await cast.grant(org, carol.path, viewer, { startTime: inHours(1) });
      await expectExceeds(grantAs(carol, org, carol.path, viewer));
      await cast.grant(org, carol.path, viewer);
      await grantAs(carol, org, bob.path, viewer);
    });

    test("but can grant the roles that it holds", async () => {
      for (const role of [admin, editor, viewer]) await grantAs(alice, org, bob.path, role);
      expect(await cast.may(bob.path, "compute.instances.start", web)).toBe(true);
    });
  });

  describe("a member who grants roles", () => {
    test("cannot grant a predefined or custom role with more permissions", async () => {
      const alice = await cast.member("alice", "/roles/access-admin");
      await expectExceeds(grantAs(alice, org, alice.path, editor));
      const starter = await cast.role("starter", "compute.instances.start");
      await expectExceeds(grantAs(alice, org, alice.path, starter));
      await grantAs(alice, org, alice.path, "/roles/access-checker");
    });

    test("on a project can grant roles there, but neither above nor on another project", async () => {
      const [web, shop] = [await cast.project("web"), await cast.project("shop")];
      const alice = await cast.member("alice");
      await cast.grant(web, alice.path, admin);
      await grantAs(alice, web, alice.path, editor);
      for (const scope of [org, shop, cast.org.customerPath, ""]) {
        expect(await reasonOf(grantAs(alice, scope, alice.path, viewer))).toBe("PERMISSION_DENIED");
      }
    });

    test("on an org cannot grant roles on its customer or the platform", async () => {
      const alice = await cast.member("alice", owner);
      for (const scope of [cast.org.customerPath, ""]) {
        expect(await reasonOf(grantAs(alice, scope, alice.path, viewer))).toBe("PERMISSION_DENIED");
      }
    });

    test("cannot grant a role that it holds under a condition", async () => {
      const alice = await cast.member("alice");
      await cast.grant(org, alice.path, owner, { condition: `resource.path == "${org}"` });
      const web = await cast.project("web");
      expect(await cast.may(alice.path, ownersOnly, org)).toBe(true);
      await expectExceeds(grantAs(alice, org, alice.path, owner));
      expect(await cast.may(alice.path, ownersOnly, web)).toBe(false);
    });

    test("cannot refer to a role or a subject of another org", async () => {
      const alice = await cast.member("alice", owner);
      const other = await createOrgCast(protocol, server);
      const mallory = await other.member("mallory");
      const foreign = await other.api.roles.getRole({ path: await other.role("all", "iam.orgs.get") });
      const { id: malloryId } = await other.api.members.getMember({ path: mallory.path });

      expect(await reasonOf(grantAs(alice, org, alice.path, foreign.path))).toBe("FIELD_INVALID");
      expect(await reasonOf(grantAs(alice, org, alice.path, `${org}/roles/@${foreign.id}`))).toBe("RESOURCE_NOT_FOUND");
      expect(await reasonOf(grantAs(alice, org, mallory.path, viewer))).toBe("FIELD_INVALID");
      expect(await reasonOf(grantAs(alice, org, `${org}/members/@${malloryId}`, viewer))).toBe("RESOURCE_NOT_FOUND");
      expect(await reasonOf(grantAs(alice, other.org.path, alice.path, viewer))).toBe("PERMISSION_DENIED");
    });
  });

  describe("a role of the org", () => {
    test("can get only permissions that the author holds", async () => {
      const alice = await cast.member("alice", admin);
      const { roles } = alice.api;
      const role = (permissions: string[]) => ({ name: uniqueName("r"), permissions });
      await roles.createRole({ parentPath: org, role: role(["iam.projects.create", "compute.instances.start"]) });
      const more = role(["iam.projects.create", ownersOnly]);
      await expectExceeds(roles.createRole({ parentPath: org, role: more }));
      await expectExceeds(roles.batchCreateRoles({ parentPath: org, requests: [{ role: more }] }));
      const path = `${org}/roles/${more.name}`;
      await expectExceeds(roles.updateRole({ path, role: more, allowMissing: true }));
      await expectExceeds(roles.createRole({ parentPath: org, role: role(["iam.roleBindings.grantUnheld"]) }));
      expect(await reasonOf(roles.getRole({ path }))).toBe("RESOURCE_NOT_FOUND");
    });

    test("cannot contain wildcards", async () => {
      const alice = await cast.member("alice", owner);
      for (const permission of ["*", "iam.*", "iam.*.*", "iam.orgs.*"]) {
        const role = { name: "all", permissions: [permission] };
        expect(await reasonOf(alice.api.roles.createRole({ parentPath: org, role }))).toBe("FIELD_INVALID");
      }
    });

    test("cannot be extended by a member who holds it", async () => {
      const path = await cast.role("deployer", "iam.roles.update", "iam.roles.get");
      const alice = await cast.member("alice", path);
      const { roles } = alice.api;
      const widen = (permissions: string[], paths: string[]) =>
        roles.updateRole({ path, role: { name: "deployer", permissions }, updateMask: { paths } });
      await expectExceeds(widen(["iam.roles.update", "iam.projects.create"], ["permissions"]));
      await expectExceeds(widen([ownersOnly], ["*"]));
      await expectExceeds(roles.updateRole({ path, role: { permissions: ["compute.instances.start"] } }));
      expect(await cast.may(alice.path, "compute.instances.start", org)).toBe(false);
    });

    test("with the name of a predefined one has none of its permissions", async () => {
      const alice = await cast.member("alice", admin);
      const { path } = await alice.api.roles.createRole({
        parentPath: org,
        role: { name: "owner", permissions: ["iam.orgs.get"] },
      });
      await grantAs(alice, org, alice.path, path);
      const deployer = await cast.role("deployer", "iam.orgs.get");
      await grantAs(alice, org, alice.path, deployer);
      await alice.api.roles.deleteRole({ path });
      await alice.api.roles.updateRole({ path: deployer, role: { name: "owner" } });
      expect(await cast.may(alice.path, ownersOnly, org)).toBe(false);
      expect(await cast.may(alice.path, "iam.roleBindings.grantUnheld", org)).toBe(false);
      await expectExceeds(grantAs(alice, org, alice.path, owner));
    });
  });

  describe("a group with more access than the caller", () => {
    let alice: CastMember;
    beforeEach(async () => {
      alice = await cast.member("alice", admin);
    });

    const joinAs = ({ api }: CastMember, parentPath: string, memberPath: string, fields: object = {}) =>
      api.groupMembers.createGroupMember({ parentPath, groupMember: { memberPath, ...fields } });
    const nestAs = ({ api }: CastMember, parentPath: string, groupPath: string) =>
      api.groupMembers.createSubgroup({ parentPath, subgroup: { groupPath } });

    test("gets no new members from the caller", async () => {
      const owners = await cast.group("owners", owner);
      const bob = await cast.member("bob");
      for (const { path } of [alice, bob]) await expectExceeds(joinAs(alice, owners, path));
      await expectExceeds(joinAs(alice, owners, alice.path, { expireTime: inHours(1) }));
      const requests = [{ groupMember: { memberPath: bob.path } }, { groupMember: { memberPath: alice.path } }];
      await expectExceeds(alice.api.groupMembers.batchCreateGroupMembers({ parentPath: owners, requests }));
      const path = `${owners}/members/alice`;
      await expectExceeds(alice.api.groupMembers.updateGroupMember({ path, groupMember: {}, allowMissing: true }));
      expect(await cast.may(alice.path, ownersOnly, org)).toBe(false);
    });

    test("gets no new members in a nested group, at any depth", async () => {
      const [outer, middle, inner] = [await cast.group("outer", owner), await cast.group("m"), await cast.group("i")];
      await cast.nest(outer, middle);
      await cast.nest(middle, inner);
      await expectExceeds(joinAs(alice, middle, alice.path));
      await expectExceeds(joinAs(alice, inner, alice.path));
    });

    test("gets no new nested groups from the caller", async () => {
      const [outer, inner, own] = [await cast.group("outer", owner), await cast.group("i"), await cast.group("own")];
      await cast.nest(outer, inner);
      await cast.join(own, alice.path);
      for (const group of [outer, inner]) await expectExceeds(nestAs(alice, group, own));
      const requests = [{ subgroup: { groupPath: own } }];
      await expectExceeds(alice.api.groupMembers.batchCreateSubgroups({ parentPath: outer, requests }));
      const path = `${inner}/subgroups/own`;
      await expectExceeds(alice.api.groupMembers.updateSubgroup({ path, subgroup: {}, allowMissing: true }));
      expect(await cast.may(alice.path, ownersOnly, org)).toBe(false);
    });

    test("can have this access on another scope, later, or under a condition", async () => {
      const web = await cast.project("web");
      const grants: [string, object][] = [
        [web, {}],
        [cast.org.customerPath, {}],
        [org, { startTime: inHours(1) }],
        [org, { condition: "context.vip" }],
      ];
      for (const [index, [scope, fields]] of grants.entries()) {
        const group = await cast.group(`holder-${index}`);
        await cast.grant(scope, group, owner, fields);
        await expectExceeds(joinAs(alice, group, alice.path));
      }
    });

    test("keeps the expire times of its memberships", async () => {
      const owners = await cast.group("owners", owner);
      const { path } = await joinAs({ ...alice, api: cast.api }, owners, alice.path, { expireTime: inHours(1) });
      // The membership is valid until it expires.
      expect(await cast.may(alice.path, ownersOnly, org)).toBe(true);
      const bobs = await joinAs({ ...alice, api: cast.api }, owners, (await cast.member("bob")).path, {
        expireTime: inHours(1),
      });
      const carol = await cast.member("carol", admin);
      const { groupMembers } = carol.api;
      for (const target of [path, bobs.path]) {
        const longer = { groupMember: { expireTime: inHours(2) }, updateMask: { paths: ["expire_time"] } };
        await expectExceeds(groupMembers.updateGroupMember({ path: target, ...longer }));
        const forever = { groupMember: {}, updateMask: { paths: ["expire_time"] } };
        await expectExceeds(groupMembers.updateGroupMember({ path: target, ...forever }));
      }
    });

    test("differs from a group with no more access, which gets members and nested groups from the caller", async () => {
      const editors = await cast.group("editors", editor);
      const [inner, bob] = [await cast.group("inner"), await cast.member("bob")];
      await joinAs(alice, editors, bob.path);
      await nestAs(alice, editors, inner);
      expect(await cast.may(bob.path, "iam.projects.create", org)).toBe(true);
    });
  });

  describe("a key of another member", () => {
    const createKey = ({ api }: CastMember, parentPath: string) =>
      api.apiKeys.createApiKey({ parentPath, apiKey: { name: uniqueName("k") } });

    test("is not made for one who holds more, by itself or through groups", async () => {
      const alice = await cast.member("alice", admin);
      const [boss, vice] = [await cast.member("boss", owner), await cast.member("vice")];
      const [outer, inner] = [await cast.group("outer", owner), await cast.group("inner")];
      await cast.nest(outer, inner);
      await cast.join(inner, vice.path);
      for (const { path } of [boss, vice]) {
        await expectExceeds(createKey(alice, path));
        const requests = [{ apiKey: { name: "one" } }];
        await expectExceeds(alice.api.apiKeys.batchCreateApiKeys({ parentPath: path, requests }));
        const update = { path: `${path}/apiKeys/one`, apiKey: {}, allowMissing: true };
        await expectExceeds(alice.api.apiKeys.updateApiKey(update));
      }
    });

    test("is made for one who holds no more, and everybody makes their own", async () => {
      const alice = await cast.member("alice", admin);
      const robot = await cast.member("robot", editor);
      expect((await createKey(alice, robot.path)).secret).not.toBe("");
      expect((await createKey(alice, alice.path)).secret).not.toBe("");
    });

    test("is neither changed nor deleted by who holds less than its member", async () => {
      const alice = await cast.member("alice", admin);
      const [boss, robot] = [await cast.member("boss", owner), await cast.member("robot", editor)];
      const change = ({ api }: CastMember, path: string) =>
        api.apiKeys.updateApiKey({ path, apiKey: { displayName: uniqueName("changed") } });
      const { path } = await createKey(boss, boss.path);
      await expectExceeds(change(alice, path));
      const batch = { parentPath: boss.path, paths: [path] };
      expect(await reasonOf(alice.api.apiKeys.deleteApiKey({ path }))).toBe("REVOKE_EXCEEDS_OWN");
      expect(await reasonOf(alice.api.apiKeys.batchDeleteApiKeys(batch))).toBe("REVOKE_EXCEEDS_OWN");
      const { path: other } = await createKey(alice, robot.path);
      for (const [caller, key] of [
        [boss, path],
        [alice, other],
      ] as const) {
        await change(caller, key);
        await caller.api.apiKeys.deleteApiKey({ path: key });
      }
    });

    test("does not expire later than the key that makes it", async () => {
      const alice = await cast.member("alice", admin);
      const inAnHour = new Date(Date.now() + 3_600_000);
      const createUntil = (api: Api, expireTime?: Date) =>
        api.apiKeys.createApiKey({
          parentPath: alice.path,
          apiKey: { name: uniqueName("k"), ...(expireTime && { expireTime: timestampFromDate(expireTime) }) },
        });
      const { secret } = await createUntil(alice.api, inAnHour);
      const api = createApiOf(secret);
      for (const expireTime of [undefined, new Date(inAnHour.getTime() + 1)]) {
        expect(await failureOf(createUntil(api, expireTime))).toMatchObject({
          code: "InvalidArgument",
          fields: ["api_key.expire_time"],
          message: expect.stringContaining(
            `at most ${inAnHour.toISOString()}, when the API key of this call`,
          ) as unknown,
        });
      }
      expect((await createUntil(api, inAnHour)).secret).not.toBe("");
    });
  });

  describe("an update with allow_missing", () => {
    const resources = writtenResources
      // Permissions on the service catalog are held on the platform, where no custom role is bound.
      .filter((resource) => verbsOf(resource).includes("Create") && resource.place.parents[0]?.type === "Org")
      // An update of a resource creates none: that is an operation.
      .filter((resource) => !isRunByProvider(resource))
      // Owners alone create identities of others and SCIM sources: test/iam/identities.test.ts, test/scim/sources.test.ts.
      .filter(({ type }) => type !== "Identity" && type !== "ScimSource")
      .map((resource) => ({ name: resource.name, resource }));

    test.each(resources)("requires the permission to create, too: $name", async ({ resource }) => {
      const operator = await openWorkplace(resource, cast.api);
      const parentPath = operator.org.path;
      const [update, create] = [permissionFor(resource, "update"), permissionFor(resource, "create")];
      const makeUpdater = async (name: string, ...permissions: string[]) => {
        const { path } = await cast.api.roles.createRole({ parentPath, role: { name, permissions } });
        const member = await cast.api.members.createMember({ parentPath, member: { name } });
        await cast.grant(parentPath, member.path, path);
        // The author must hold the access that the resource grants.
        await cast.grant(parentPath, member.path, viewer);
        const { secret } = await cast.api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name } });
        return operator.as(createApiOf(secret));
      };
      const updater = await makeUpdater("updater", update);
      const [there, missing] = [uniqueName("there"), uniqueName("missing")];
      await operator.makeWay(there);
      await operator.makeWay(missing);
      const { path } = await operator.create(there);
      const options = { allowMissing: true };

      expect(await reasonOf(updater.update(operator.pathOf(missing), {}, options))).toBe("PERMISSION_DENIED");
      // The error is the same for an existing resource.
      expect(await reasonOf(updater.update(path, {}, options))).toBe("PERMISSION_DENIED");
      expect(await reasonOf(operator.get(operator.pathOf(missing)))).toBe("RESOURCE_NOT_FOUND");
      expect((await updater.update(path, {})).path).toBe(path);

      const maker = await makeUpdater("maker", update, create);
      const fields = resource.fieldsIn?.(parentPath, missing) ?? {};
      expect((await maker.update(operator.pathOf(missing), fields, options)).path).toBe(operator.pathOf(missing));
    });

    test("requires it on the parent of the new resource", async () => {
      const web = await cast.project("web");
      const alice = await cast.member("alice");
      await cast.grant(web, alice.path, editor);
      const update = { path: web, project: { displayName: "Web" } };
      expect(await reasonOf(alice.api.projects.updateProject({ ...update, allowMissing: true }))).toBe(
        "PERMISSION_DENIED",
      );
      expect((await alice.api.projects.updateProject(update)).displayName).toBe("Web");
    });
  });
});
