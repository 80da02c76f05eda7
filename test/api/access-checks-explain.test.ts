// Tests ExplainAccess: why a subject has access, or what is missing.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AccessPlace, createAccessPlace, startInstance } from "../support/access-place.ts";
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
