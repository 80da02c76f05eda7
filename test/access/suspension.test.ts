// Tests what a suspended org or project allows, and to whom.
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { createTransport, overFirst } from "../support/transports.ts";
import { type Caller, type Company, openCompany } from "./callers.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const denied = { code: "PermissionDenied", reason: "PERMISSION_DENIED" };
const start = "compute.instances.start";

describe.each(overFirst(["REST", "gRPC"]))("over %s", (protocol) => {
  let company: Company;
  /** The paths of the org and a project in it. */
  let [org, web] = ["", ""];
  let owner: Caller;
  let admin: Caller;
  let viewer: Caller;
  beforeEach(async () => {
    company = await openCompany(protocol, server);
    org = company.org.path;
    web = (await company.api.projects.createProject({ parentPath: org, project: { name: "web" } })).path;
    owner = await company.joinAs("owner");
    admin = await company.joinAs("admin");
    viewer = await company.joinAs("viewer");
  });

  /** Checks as the operator. */
  async function check(subject: Caller, permission: string, resourcePath: string): Promise<boolean> {
    const access = createClient(AccessService, createTransport(protocol, server.url, server.operatorKey));
    const question = { subjectPath: subject.path, permission, resourcePath };
    const [one, { results }] = [
      await access.checkAccess(question),
      await access.batchCheckAccess({ checks: [question, question] }),
    ];
    expect(results.map(({ allowed }) => allowed)).toEqual([one.allowed, one.allowed]);
    return one.allowed;
  }

  const suspendOrg = () => company.api.orgs.suspendOrg({ path: org });
  const suspendProject = () => company.api.projects.suspendProject({ path: web });

  describe("a suspended org", () => {
    test("denies access to members who cannot activate it, whatever their role, in the org and its projects", async () => {
      await suspendOrg();
      for (const caller of [admin, viewer]) {
        expect(await failureOf(caller.projects.getProject({ path: web }))).toMatchObject(denied);
        expect(await failureOf(caller.projects.listProjects({ parentPath: org }))).toMatchObject(denied);
        expect(await failureOf(caller.projects.listProjects({ parentPath: "/orgs/-" }))).toMatchObject(denied);
        expect(await failureOf(caller.orgs.listOrgs({}))).toMatchObject(denied);
        for (const resource of [org, web, `${web}/instances/db-1`, `${org}/buckets/logs`]) {
          expect(await check(caller, start, resource)).toBe(false);
          expect(await check(caller, "iam.projects.get", resource)).toBe(false);
        }
      }
      const change = { path: org, org: { displayName: "Acme" } };
      expect(await failureOf(admin.orgs.updateOrg(change))).toMatchObject(denied);
    });

    test("can be read with the permission to do so", async () => {
      const stranger = await company.join("stranger");
      await suspendOrg();
      for (const caller of [owner, admin, viewer]) {
        expect(await caller.orgs.getOrg({ path: org })).toMatchObject({ path: org });
        expect(await check(caller, "iam.orgs.get", org)).toBe(true);
        expect(await check(caller, "iam.orgs.get", `${org}/members/owner`)).toBe(caller === owner);
      }
      expect(await failureOf(stranger.orgs.getOrg({ path: org }))).toMatchObject(denied);
    });

    test("reveals the reason to callers who hold the permission, and nothing to others", async () => {
      const stranger = await company.join("stranger");
      await suspendOrg();
      const get = (caller: Caller) => failureOf(caller.projects.getProject({ path: web }));
      const lacks = "the caller lacks the permission iam.projects.get on this resource";
      expect(await get(viewer)).toMatchObject({
        message: `${lacks} while the org is SUSPENDED`,
        metadata: { permission: "iam.projects.get", state: "SUSPENDED" },
      });
      expect(await get(stranger)).toMatchObject({
        message: `${lacks} (or it might not exist)`,
        metadata: { permission: "iam.projects.get" },
      });
      const create = { parentPath: org, project: { name: "shop" } };
      const { message } = await failureOf(viewer.projects.createProject(create));
      expect(message).toMatch(/\(or it might not exist\)$/);
    });

    test("does not reveal the reason to callers who hold the permission but cannot see access", async () => {
      const worker = await company.joinAs("projects-admin", "worker");
      await suspendOrg();
      const { message, metadata } = await failureOf(worker.projects.getProject({ path: web }));
      expect(message).toMatch(/\(or it might not exist\)$/);
      expect(metadata).toEqual({ permission: "iam.projects.get" });
    });

    test("lists no grantors, because no grant would help", async () => {
      const permissions = ["iam.orgs.activate", "iam.access.explain"];
      const role = await company.api.roles.createRole({ parentPath: org, role: { name: "lifter", permissions } });
      const lifter = await company.join("lifter");
      await company.bind(org, role.path, lifter);
      const get = () => failureOf(lifter.projects.getProject({ path: web }));
      expect((await get()).metadata["granters"]).toContain(owner.path);
      await suspendOrg();
      expect((await get()).metadata).toEqual({ permission: "iam.projects.get", role: "/roles/projects-admin" });
    });

    test("allows callers who can activate it", async () => {
      await suspendOrg();
      expect(await check(owner, start, web)).toBe(true);
      expect((await owner.projects.getProject({ path: web })).path).toBe(web);
      expect((await owner.projects.listProjects({ parentPath: "/orgs/-" })).projects.length).toBe(1);
      await owner.orgs.activateOrg({ path: org });
      expect(await check(viewer, "iam.projects.get", web)).toBe(true);
      expect((await viewer.projects.getProject({ path: web })).path).toBe(web);
    });

    test("also denies access that is bound on the customer, but not in other orgs", async () => {
      const sibling = await openCompany(protocol, server, company.org.customerPath);
      const parentPath = sibling.org.path;
      const shop = await sibling.api.projects.createProject({ parentPath, project: { name: "shop" } });
      const auditor = await company.join("auditor");
      await company.bind(company.org.customerPath, "viewer", auditor);
      const outsider = await sibling.join("outsider");
      await sibling.bind(company.org.customerPath, "viewer", outsider);
      await suspendOrg();
      for (const caller of [auditor, outsider]) {
        expect(await failureOf(caller.projects.getProject({ path: web }))).toMatchObject(denied);
        expect((await caller.orgs.getOrg({ path: org })).path).toBe(org);
        expect((await caller.projects.getProject({ path: shop.path })).path).toBe(shop.path);
        expect(await check(caller, "iam.projects.get", web)).toBe(false);
        expect(await check(caller, "iam.projects.get", shop.path)).toBe(true);
      }
    });

    test("also denies access that is bound on the platform", async () => {
      const auditor = await company.join(uniqueName("auditor"), "/orgs/system");
      await company.bind("", "viewer", auditor);
      await suspendOrg();
      expect(await failureOf(auditor.projects.getProject({ path: web }))).toMatchObject(denied);
      expect(await check(auditor, "iam.projects.get", web)).toBe(false);
      expect((await auditor.orgs.getOrg({ path: org })).path).toBe(org);
      expect((await auditor.orgs.listOrgs({ pageSize: 1000 })).orgs.map(({ path }) => path)).toContain(org);
    });

    test("affects ListSubjects and ListResources", async () => {
      const operator = createClient(AccessService, createTransport(protocol, server.url, server.operatorKey));
      const who = async () =>
        (await operator.listSubjects({ permission: "iam.projects.get", resourcePath: web })).subjectPaths;
      const what = async (caller: Caller) => {
        const question = { subjectPath: caller.path, permission: "iam.projects.get", parentPath: org };
        return (await operator.listResources(question)).resourcePaths;
      };
      const all = [owner, admin, viewer].map((caller) => caller.path);
      expect([await who(), await what(viewer), await what(owner)]).toEqual([all, [web], [web]]);
      await suspendOrg();
      expect([await who(), await what(viewer), await what(owner)]).toEqual([all.slice(0, 1), [], [web]]);
    });

    test("answers its members about each other as if the others did not exist, also on resources of other orgs", async () => {
      const sibling = await openCompany(protocol, server, company.org.customerPath);
      const parentPath = sibling.org.path;
      const { path: shop } = await sibling.api.projects.createProject({ parentPath, project: { name: "shop" } });
      const group = await company.api.groups.createGroup({ parentPath: org, group: { name: "granted" } });
      await company.api.groupMembers.createGroupMember({
        parentPath: group.path,
        groupMember: { memberPath: viewer.path },
      });
      const lifter = await company.join("lifter");
      for (const subject of [group, admin, lifter]) await company.bind(company.org.customerPath, "viewer", subject);
      await company.bind(company.org.customerPath, "owner", owner);
      const ask = async ({ access }: Caller, subjectPath: string) => {
        const question = { subjectPath, permission: "iam.projects.get" };
        return [
          (await access.checkAccess({ ...question, resourcePath: shop })).allowed,
          (await access.listResources({ ...question, parentPath })).resourcePaths,
          await access.explainAccess({ ...question, resourcePath: shop }).then(
            ({ grants }) => grants.flatMap(({ groupPaths }) => groupPaths),
            async (error: unknown) => (await failureOf(Promise.reject(error))).reason,
          ),
        ];
      };
      const create = () => failureOf(admin.projects.createProject({ parentPath, project: { name: "new" } }));
      const known = [true, [shop], [group.path]];
      for (const caller of [admin, owner]) expect(await ask(caller, viewer.path)).toEqual(known);
      expect((await create()).metadata["granters"]).toBe(owner.path);
      await suspendOrg();
      for (const name of [viewer.path, `${org}/members/nobody`]) {
        expect(await ask(admin, name)).toEqual([false, [], "RESOURCE_NOT_FOUND"]);
      }
      expect((await create()).message).not.toContain(org);
      expect(await ask(owner, viewer.path)).toEqual(known);
    });

    test("allows TestPermissions, which returns the permission to read the org", async () => {
      await suspendOrg();
      const permissions = ["iam.orgs.get", "iam.orgs.update", "iam.members.list", start];
      const held = async (caller: Caller) =>
        (await caller.access.testPermissions({ resourcePath: org, permissions })).permissions;
      expect(await held(admin)).toEqual(["iam.orgs.get"]);
      expect(await held(owner)).toEqual(permissions);
    });
  });

  describe("a suspended project", () => {
    test("denies access to callers who cannot activate it, and only there", async () => {
      const { path: shop } = await company.api.projects.createProject({ parentPath: org, project: { name: "shop" } });
      const worker = await company.join("worker");
      await company.bind(web, "viewer", worker);
      await suspendProject();
      for (const caller of [viewer, worker]) {
        expect(await check(caller, "iam.roleBindings.list", web)).toBe(false);
        expect(await failureOf(caller.roleBindings.listRoleBindings({ parentPath: web }))).toMatchObject(denied);
        expect(await check(caller, "iam.projects.get", `${web}/instances/db-1`)).toBe(false);
      }
      expect(await check(viewer, "iam.roleBindings.list", shop)).toBe(true);
      expect((await viewer.projects.listProjects({ parentPath: org })).projects.length).toBe(2);
    });

    test("denies access that a member of another org holds on the customer", async () => {
      const { customerPath } = company.org;
      const sibling = await openCompany(protocol, server, customerPath);
      const outsider = await sibling.join("outsider");
      await sibling.bind(customerPath, "viewer", outsider);
      const list = () => outsider.roleBindings.listRoleBindings({ parentPath: web });
      expect((await list()).roleBindings).toEqual([]);
      await suspendProject();
      expect(await failureOf(list())).toMatchObject(denied);
      expect(await check(outsider, "iam.roleBindings.list", web)).toBe(false);
      expect((await outsider.projects.getProject({ path: web })).path).toBe(web);
    });

    test("denies access also once it is deleted, on every server, until it is restored and activated", async () => {
      const { id } = await company.api.projects.getProject({ path: web });
      const path = `${org}/projects/@${id}`;
      await suspendProject();
      await company.api.projects.deleteProject({ path: web });
      const other = await startTestServer({ databaseUrl: server.databaseUrl });
      try {
        for (const { url } of [server, other]) {
          const list = ({ key }: Caller) =>
            createApi(protocol, url, key).roleBindings.listRoleBindings({ parentPath: path });
          expect(await failureOf(list(viewer))).toMatchObject(denied);
          expect((await list(owner)).roleBindings).toEqual([]);
          expect((await createApi(protocol, url, viewer.key).projects.getProject({ path })).id).toBe(id);
        }
      } finally {
        await other.close();
      }
      await company.api.projects.undeleteProject({ path });
      expect(await failureOf(viewer.roleBindings.listRoleBindings({ parentPath: web }))).toMatchObject(denied);
      await company.api.projects.activateProject({ path: web });
      await company.api.projects.deleteProject({ path: web });
      expect((await viewer.roleBindings.listRoleBindings({ parentPath: path })).roleBindings).toEqual([]);
    });

    test("can be read, and used by callers who can activate it", async () => {
      await suspendProject();
      expect((await viewer.projects.getProject({ path: web })).path).toBe(web);
      expect(await check(admin, start, `${web}/instances/db-1`)).toBe(true);
      const editor = await company.joinAs("editor");
      expect((await editor.roleBindings.listRoleBindings({ parentPath: web })).roleBindings).toEqual([]);
      await editor.projects.activateProject({ path: web });
      expect(await check(viewer, "iam.roleBindings.list", web)).toBe(true);
    });

    test("in a suspended org is accessible to members who can activate both, and not to those who can activate one", async () => {
      const permissions = ["iam.orgs.activate", "iam.projects.get", "iam.roleBindings.list", start];
      const role = await company.api.roles.createRole({ parentPath: org, role: { name: "lifter", permissions } });
      const lifter = await company.join("lifter");
      await company.bind(org, role.path, lifter);
      await suspendProject();
      await suspendOrg();
      for (const caller of [admin, lifter]) {
        expect(await check(caller, start, web)).toBe(false);
        expect(await failureOf(caller.roleBindings.listRoleBindings({ parentPath: web }))).toMatchObject(denied);
      }
      expect((await lifter.roleBindings.listRoleBindings({ parentPath: org })).roleBindings).not.toEqual([]);
      expect((await lifter.projects.getProject({ path: web })).path).toBe(web);
      expect(await check(owner, start, web)).toBe(true);
      expect(await failureOf(viewer.projects.getProject({ path: web }))).toMatchObject(denied);
      await company.api.orgs.activateOrg({ path: org });
      expect(await check(admin, start, web)).toBe(true);
    });
  });
});
