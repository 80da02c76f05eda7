// Tests ExplainAccess: why a subject has access, or what is missing.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openCloud } from "../resources/cloud.ts";
import { type AccessPlace, createAccessClient, createAccessPlace, startInstance } from "../support/access-place.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const permission = startInstance;

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let place: AccessPlace;
  beforeEach(async () => {
    place = await createAccessPlace(protocol, server.url, server.operatorKey);
  });

  const explain = (subjectPath: string, resourcePath: string, wanted = permission) =>
    place.access.explainAccess({ subjectPath, permission: wanted, resourcePath });
  const grantFor = async (subjectPath: string, resourcePath: string) => {
    const { allowed, grants, rolePaths, granterPaths, deniedBecause } = await explain(subjectPath, resourcePath);
    expect({ allowed, rolePaths, granterPaths, deniedBecause, count: grants.length }).toEqual({
      allowed: true,
      rolePaths: [],
      granterPaths: [],
      deniedBecause: "",
      count: 1,
    });
    const [found] = grants.map(({ roleBindingPath, rolePath, groupPaths }) => ({
      roleBindingPath,
      rolePath,
      groupPaths,
    }));
    return found;
  };

  test("explains a direct grant by its binding and role", async () => {
    const { alice, sre, web, grant } = place;
    const roleBindingPath = await grant(web, alice, "/roles/admin");
    await grant(web, sre, "/roles/owner");
    const expected = { roleBindingPath, rolePath: "/roles/admin", groupPaths: [] };
    expect(await grantFor(alice, web)).toEqual(expected);
    expect(await grantFor(alice, `${web}/instances/db-1`)).toEqual(expected);
  });

  test("explains the grant of an indirect group with the groups between", async () => {
    const { api, alice, org, sre, web, grant } = place;
    const paths = [sre];
    for (const name of ["staff", "everybody"]) {
      const outer = await api.groups.createGroup({ parentPath: org.path, group: { name } });
      await api.groupMembers.createSubgroup({ parentPath: outer.path, subgroup: { groupPath: paths.at(-1) ?? "" } });
      paths.push(outer.path);
    }
    const roleBindingPath = await grant(web, paths.at(-1) ?? "", "/roles/admin");
    expect(await grantFor(alice, web)).toEqual({ roleBindingPath, rolePath: "/roles/admin", groupPaths: paths });
    const fromGroup = await grantFor(sre, web);
    expect(fromGroup).toEqual({ roleBindingPath, rolePath: "/roles/admin", groupPaths: paths.slice(1) });
  });

  test("explains a grant on the org, the customer or the platform with the path of its binding", async () => {
    const { alice, org, web, grant } = place;
    const onCustomer = await grant(org.customerPath, alice, "/roles/admin");
    expect(onCustomer).toMatch(/^\/customers\/[^/]+\/roleBindings\//);
    expect(await grantFor(alice, web)).toMatchObject({ roleBindingPath: onCustomer, rolePath: "/roles/admin" });
    const onOrg = await grant(org.path, alice, "/roles/owner");
    // The nearest one is returned.
    expect(await grantFor(alice, web)).toMatchObject({ roleBindingPath: onOrg, rolePath: "/roles/owner" });
    const onPlatform = await grantFor("/orgs/system/members/operator", web);
    expect(onPlatform).toMatchObject({ rolePath: "/roles/owner", groupPaths: [] });
    expect(onPlatform?.roleBindingPath).toMatch(/^\/roleBindings\//);
  });

  test("names a custom role by its path", async () => {
    const { api, alice, org, web, grant } = place;
    const role = await api.roles.createRole({
      parentPath: org.path,
      role: { name: "starter", permissions: [permission] },
    });
    const roleBindingPath = await grant(web, alice, role.path);
    expect(await grantFor(alice, web)).toEqual({ roleBindingPath, rolePath: role.path, groupPaths: [] });
  });

  test("without a grant, lists the roles that would grant it and the members who can grant them", async () => {
    const { api, alice, bob, org, sre, web, grant } = place;
    const createRole = async (name: string, permissions: string[]) =>
      (await api.roles.createRole({ parentPath: org.path, role: { name, permissions } })).path;
    const larger = await createRole("larger", [permission, "compute.instances.stop"]);
    const smaller = await createRole("smaller", [permission]);
    const granter = await createRole("granter", ["iam.roleBindings.create", permission, "compute.instances.stop"]);
    await grant(org.path, bob, granter);
    // A member without the permission cannot grant it.
    await grant(org.path, sre, "/roles/access-admin");
    const { allowed, grants, rolePaths, granterPaths, deniedBecause } = await explain(alice, web);
    expect({ allowed, grants, granterPaths, deniedBecause }).toEqual({
      allowed: false,
      grants: [],
      granterPaths: [bob],
      deniedBecause: "",
    });
    expect(rolePaths).toEqual([smaller, larger, granter, "/roles/editor", "/roles/admin", "/roles/owner"]);
    // Nobody can grant anything on the customer.
    expect((await explain(alice, org.customerPath)).granterPaths).toEqual([]);
  });

  test("explains a suspension of the subject or of the resource", async () => {
    const { api, alice, bob, org, web, grant } = place;
    const role = await api.roles.createRole({
      parentPath: org.path,
      role: { name: "starter", permissions: [permission] },
    });
    const roleBindingPath = await grant(web, alice, role.path);
    await grant(web, bob, role.path);
    await api.members.suspendMember({ path: bob });
    expect(await explain(bob, web)).toMatchObject({ allowed: false, deniedBecause: "the subject is SUSPENDED" });
    await api.projects.suspendProject({ path: web });
    const inProject = await explain(alice, web);
    expect(inProject).toMatchObject({ allowed: false, deniedBecause: "the project is SUSPENDED" });
    expect(inProject.grants).toMatchObject([{ roleBindingPath }]);
    await api.projects.activateProject({ path: web });
    await api.orgs.suspendOrg({ path: org.path });
    expect(await explain(alice, web)).toMatchObject({ allowed: false, deniedBecause: "the org is SUSPENDED" });
  });

  describe("a binding whose condition is not true", () => {
    const condition = 'resource.labels.env == "dev" && subject.type == "member" && (context.mfa || context.vpn)';
    const ofExplanation = async (subjectPath: string, resourcePath: string, context = {}) => {
      const { allowed, grants, conditionalGrants } = await place.access.explainAccess({
        subjectPath,
        permission,
        resourcePath,
        context,
      });
      const plain = conditionalGrants.map(({ roleBindingPath, rolePath, groupPaths, condition: text, falseParts }) => ({
        roleBindingPath,
        rolePath,
        groupPaths,
        condition: text,
        falseParts,
      }));
      return { allowed, count: grants.length, conditionalGrants: plain };
    };

    test("is named with the condition and what of it is not true", async () => {
      const { api, alice, sre, org, web, grant } = place;
      await api.projects.updateProject({ path: web, project: { labels: { env: "prod" } } });
      const roleBindingPath = await grant(org.path, alice, "/roles/admin", { condition });
      const ofGroup = await grant(web, sre, "/roles/editor", { condition: 'subject.path == "/nobody"' });
      const onOrg = { rolePath: "/roles/admin", roleBindingPath, groupPaths: [], condition };
      const throughGroup = {
        roleBindingPath: ofGroup,
        rolePath: "/roles/editor",
        groupPaths: [sre],
        condition: 'subject.path == "/nobody"',
        falseParts: ['subject.path == "/nobody"'],
      };
      expect(await ofExplanation(alice, `${web}/instances/db-1`)).toEqual({
        allowed: false,
        count: 0,
        conditionalGrants: [
          { ...onOrg, falseParts: ['resource.labels.env == "dev"', "context.mfa || context.vpn"] },
          throughGroup,
        ],
      });
      expect((await ofExplanation(alice, web, { mfa: true })).conditionalGrants).toEqual([
        { ...onOrg, falseParts: ['resource.labels.env == "dev"'] },
        throughGroup,
      ]);
      await api.projects.updateProject({ path: web, project: { labels: { env: "dev" } } });
      expect(await ofExplanation(alice, web, { mfa: true })).toEqual({
        allowed: true,
        count: 1,
        conditionalGrants: [],
      });
    });

    test("is named with the comments in its condition", async () => {
      const { alice, org, grant } = place;
      await grant(org.path, alice, "/roles/admin", { condition: "context.mfa // not yet && often\n&& context.vpn" });
      expect((await ofExplanation(alice, org.path, { vpn: true })).conditionalGrants).toMatchObject([
        { falseParts: ["context.mfa // not yet && often"] },
      ]);
    });

    test("is named without the condition to callers who may not get the binding", async () => {
      const { api, alice, bob, org, web, grant } = place;
      const roleBindingPath = await grant(org.path, alice, "/roles/admin", { condition: "context.mfa" });
      const auditor = await api.roles.createRole({
        parentPath: org.path,
        role: { name: "auditor", permissions: ["iam.access.explain"] },
      });
      await grant(org.path, bob, auditor.path);
      const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: bob, apiKey: { name: "key" } });
      const access = createAccessClient(protocol, server.url, secret);
      const explained = () => access.explainAccess({ subjectPath: alice, permission, resourcePath: web });
      expect((await explained()).conditionalGrants).toMatchObject([
        { roleBindingPath, rolePath: "/roles/admin", condition: "", falseParts: [] },
      ]);
      await grant(org.path, bob, "/roles/viewer");
      expect((await explained()).conditionalGrants).toMatchObject([
        { roleBindingPath, condition: "context.mfa", falseParts: ["context.mfa"] },
      ]);
    });

    test("is one of at most ten", async () => {
      const { alice, web, grant } = place;
      for (let each = 0; each < 11; each++) {
        await grant(web, alice, "/roles/admin", { condition: `context.n == ${each}` });
      }
      expect((await ofExplanation(alice, web)).conditionalGrants).toHaveLength(10);
    });
  });

  test("refuses a permission and a project that do not exist, also for the operator", async () => {
    const { alice, org, web } = place;
    for (const [wanted, problem] of [
      [
        "iam.member.get",
        /there is no iam.member.get; the nearest is iam.members.get; the collections of iam are .*members/,
      ],
      [
        "iam.members.gett",
        /there is no iam.members.gett; the nearest is iam.members.get; of iam.members there are .*iam.members.get/,
      ],
    ] as const) {
      const failure = await failureOf(explain(alice, web, wanted));
      expect(failure).toMatchObject({ code: "InvalidArgument", fields: ["permission"] });
      expect(failure.message).toMatch(problem);
    }
    for (const path of [`${org.path}/projects/wep`, `${org.path}/projects/wep/instances/db-1`]) {
      expect(await failureOf(explain(alice, path))).toMatchObject({
        code: "NotFound",
        metadata: { resource: `${org.path}/projects/wep` },
      });
    }
    await explain(alice, `${web}/instances/of-another-service`);
    const { id } = await place.api.projects.getProject({ path: web });
    // For a subject of another org, the project is looked up in the database.
    for (const subject of [alice, "/orgs/system/members/operator"]) {
      await explain(subject, `${org.path}/projects/@${id}`);
      const elsewhere = `${org.path}/projects/@${org.id}`;
      for (const path of [elsewhere, `${org.path}/projects/wep`]) {
        expect(await failureOf(explain(subject, path))).toMatchObject({ code: "NotFound" });
      }
    }
  });

  test("refuses a verb that a type of the catalog does not have, unless a role names it", async () => {
    const { api, alice, org, web } = place;
    const cloud = await openCloud(protocol, server.url, server.operatorKey);
    const wanted = `${cloud.service}.instances.strat`;
    expect(await failureOf(explain(alice, web, wanted))).toMatchObject({
      fields: ["permission"],
      message: expect.stringMatching(
        /the verbs of .*\.instances are create, delete, get, list, resize, start, update, use/,
      ),
    });
    await explain(alice, web, `${cloud.service}.instances.start`);
    await explain(alice, web, `${cloud.service}.consoles.open`);
    await api.roles.createRole({ parentPath: org.path, role: { name: "own", permissions: [wanted] } });
    await explain(alice, web, wanted);
  });

  test("agrees with CheckAccess at the same revision", async () => {
    const { access, alice, bob, org, sre, web, grant } = place;
    await grant(web, sre, "/roles/admin");
    for (const subjectPath of [alice, bob, sre]) {
      for (const resourcePath of [web, org.path, org.customerPath, ""]) {
        const checked = await access.checkAccess({ subjectPath, permission, resourcePath });
        const { allowed, revision } = await explain(subjectPath, resourcePath);
        expect({ allowed, revision }).toEqual({ allowed: checked.allowed, revision: checked.revision });
      }
    }
  });

  test("returns NOT_FOUND for a missing subject or org", async () => {
    const { org, web, alice } = place;
    expect(await failureOf(explain(`${org.path}/members/zed`, web))).toMatchObject({ code: "NotFound" });
    expect(await failureOf(explain(`${org.path}/groups/zed`, web))).toMatchObject({ code: "NotFound" });
    expect(await failureOf(explain("/orgs/no-such-org/members/alice", web))).toMatchObject({ code: "NotFound" });
    expect(await failureOf(explain(alice, "/orgs/no-such-org"))).toMatchObject({ code: "NotFound" });
  });
});
