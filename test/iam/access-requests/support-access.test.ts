// An org approves what members of the platform do in it: what counts without an approval, what with one, and until when.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccessRequest_State } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { Change_Type } from "../../../gen/iam/v1alpha/change_pb.ts";
import { Org_State } from "../../../gen/iam/v1alpha/org_pb.ts";
import { uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import type { TestServer } from "../../support/test-server.ts";
import { type Person, inHours } from "./access-scene.ts";
import { openSupportScene, startServers } from "./support-scene.ts";

const { PENDING, APPROVED, DECLINED, ENDED } = AccessRequest_State;
const denied = { reason: "PERMISSION_DENIED" };

let server: TestServer;
let second: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  [server, second] = await startServers();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
  await second.close();
  await server.close();
});

/** Whether somebody may list the members of an org. */
const reads = (who: Person, parentPath: string): Promise<boolean> =>
  who.api.members.listMembers({ parentPath }).then(
    () => true,
    () => false,
  );

describe("in an org that approves what the platform does, without an approval", () => {
  test("an owner of the platform reads and changes nothing, and is told where to ask", async () => {
    const { org, web, customer, operator, owner, person } = await openSupportScene(server);
    const alice = await person();
    const { api, access } = operator;
    const mine = { name: uniqueName("mine") };
    const roleBinding = { ...mine, subjectPath: alice.path, rolePath: "/roles/owner" };
    const calls: Record<string, () => Promise<unknown>> = {
      get: () => api.members.getMember({ path: alice.path }),
      list: () => api.projects.listProjects({ parentPath: org }),
      "list in a project": () => api.roleBindings.listRoleBindings({ parentPath: web }),
      create: () => api.members.createMember({ parentPath: org, member: mine }),
      update: () => api.orgs.updateOrg({ path: org, org: { description: "Mine" } }),
      key: () => api.apiKeys.createApiKey({ parentPath: owner.path, apiKey: mine }),
      grant: () => api.roleBindings.createRoleBinding({ parentPath: org, roleBinding }),
      "grant on the customer": () => api.roleBindings.createRoleBinding({ parentPath: customer, roleBinding }),
      log: () => api.changes.listChanges({ parentPath: org }),
      "log of the customer": () => api.changes.listChanges({ parentPath: customer }),
      "who may": () => access.listSubjects({ permission: "iam.projects.get", resourcePath: web }),
      why: () => access.explainAccess({ subjectPath: alice.path, permission: "iam.projects.get", resourcePath: web }),
    };
    for (const [name, call] of Object.entries(calls)) expect(await failureOf(call()), name).toMatchObject(denied);
    expect(await failureOf(api.members.getMember({ path: alice.path }))).toMatchObject({
      message: expect.stringContaining(`ask for access with a POST to ${org}/accessRequests`),
      metadata: { access_requests: `${org}/accessRequests`, support_access: "required" },
    });
    // Members of the org are not concerned.
    expect(await reads(owner, org)).toBe(true);
  });

  test("the platform sees that it is there, suspends it, reads its quota, and asks whether its members may do something", async () => {
    const { org, web, operator, person } = await openSupportScene(server);
    const viewer = await person("/roles/viewer");
    const { api, access } = operator;
    const { path } = await api.orgs.getOrg({ path: org });
    expect(path).toBe(org);
    const { allowed } = await access.checkAccess({
      subjectPath: viewer.path,
      permission: "iam.projects.get",
      resourcePath: web,
    });
    expect(allowed).toBe(true);
    expect((await api.orgs.suspendOrg({ path: org })).state).toBe(Org_State.SUSPENDED);
    expect(await reads(viewer, org)).toBe(false);
    expect((await api.orgs.activateOrg({ path: org })).state).toBe(Org_State.ACTIVE);
    expect(await reads(viewer, org)).toBe(true);
  });

  test("lists over all orgs, and the log of the platform, leave out what is in it", async () => {
    const guarded = await openSupportScene(server);
    const other = await openSupportScene(server, false);
    const { api } = guarded.operator;
    const { members } = await api.members.listMembers({ parentPath: "orgs/-", pageSize: 1000 });
    const paths = members.map(({ path }) => path);
    expect(paths).toContain(other.owner.path);
    expect(paths).not.toContain(guarded.owner.path);
    const byId = (id: string) => api.members.getMember({ path: `orgs/-/members/@${id}` });
    const [own] = (await guarded.owner.api.members.listMembers({ parentPath: guarded.org })).members;
    expect(await failureOf(byId(own?.id ?? ""))).toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
    const { orgs } = await api.orgs.listOrgs({ pageSize: 1000 });
    expect(orgs.map(({ path }) => path)).toEqual(expect.arrayContaining([guarded.org, other.org]));
    const { changes } = await api.changes.listChanges({ pageSize: 1000 });
    const logged = changes.map(({ resourcePath }) => resourcePath);
    expect(logged).toContain(other.owner.path);
    expect(logged).not.toContain(guarded.owner.path);
  });
});

describe("an approved request", () => {
  test("gives its role, to who asked, until it is ended, on both servers", async () => {
    const { org, staff, askFor, approve, owner, at } = await openSupportScene(server);
    const [bob, eve] = [await staff(), await staff()];
    const elsewhere = at(bob, second);
    const asked = await askFor(bob);
    expect(asked).toMatchObject({ state: PENDING, memberPath: bob.path, roleBindingPath: "" });
    expect(await reads(bob, org)).toBe(false);
    expect(await approve(asked)).toMatchObject({ state: APPROVED, decision: { deciderPath: owner.path } });
    expect([await reads(bob, org), await reads(elsewhere, org), await reads(eve, org)]).toEqual([true, true, false]);
    const member = { name: uniqueName("spy") };
    expect(await failureOf(bob.api.members.createMember({ parentPath: org, member }))).toMatchObject(denied);
    expect(await owner.requests.endAccessRequest({ path: asked.path })).toMatchObject({ state: ENDED });
    expect([await reads(bob, org), await reads(elsewhere, org)]).toEqual([false, false]);
  });

  test("is approved by two, where the org wants two, and both since the org requires it", async () => {
    const { org, staff, askFor, approve, owner, person, guard } = await openSupportScene(server);
    const [bob, other] = [await staff(), await person("/roles/owner")];
    await owner.api.orgs.updateOrg({ path: org, org: { accessRequestApprovals: 2 } });
    const { path } = await askFor(bob);
    const first = await approve({ path });
    expect(first).toMatchObject({ state: PENDING, firstApproval: { deciderPath: owner.path }, requiredApprovals: 2 });
    expect(await reads(bob, org)).toBe(false);
    const eve = await staff();
    expect(await failureOf(eve.requests.approveAccessRequest({ path }))).toMatchObject(denied);
    expect((await other.requests.approveAccessRequest({ path })).state).toBe(APPROVED);
    expect(await reads(bob, org)).toBe(true);

    const again = await askFor(bob);
    await approve(again);
    await guard(owner, false);
    await guard(owner, true);
    const next = await other.requests.approveAccessRequest({ path: again.path });
    expect(next).toMatchObject({ state: PENDING, firstApproval: { deciderPath: other.path } });
    expect((await approve(again)).state).toBe(APPROVED);
  });

  test("begins in no emergency", async () => {
    const { org, staff } = await openSupportScene(server);
    const bob = await staff();
    const accessRequest = {
      rolePath: "/roles/viewer",
      resourcePath: org,
      reason: "All is down",
      expireTime: inHours(1),
    };
    const begin = bob.requests.createAccessRequest({
      parentPath: org,
      accessRequest: { ...accessRequest, breakGlass: true },
    });
    expect(await failureOf(begin)).toMatchObject({ ...denied, message: expect.stringContaining("no member of") });
  });

  test("ends by its time", async () => {
    const { org, staff, askFor, approve, owner } = await openSupportScene(server);
    const bob = await staff();
    const { path, id } = await askFor(bob);
    await approve({ path });
    expect(await reads(bob, org)).toBe(true);
    await sql.query("update access_requests set expire_time = clock_timestamp() where id = $1", [id]);
    expect(await reads(bob, org)).toBe(false);
    expect((await owner.requests.getAccessRequest({ path })).state).toBe(ENDED);
  });

  test("is about the whole org and a predefined role, whatever there is in the org", async () => {
    const { org, web, staff, askFor, owner } = await openSupportScene(server);
    const bob = await staff();
    const { path: role } = await owner.api.roles.createRole({
      parentPath: org,
      role: { name: "planner", permissions: ["iam.projects.get"] },
    });
    for (const project of [web, `${org}/projects/none`]) {
      expect(await failureOf(askFor(bob, "/roles/viewer", project))).toMatchObject({
        fields: ["access_request.resource_path"],
      });
    }
    for (const path of [role, `${org}/roles/none`]) {
      expect(await failureOf(askFor(bob, path))).toMatchObject({ fields: ["access_request.role_path"] });
    }
  });

  test("does not count while the org is suspended, and can be ended then", async () => {
    const { org, owner, staff, askFor, approve, operator } = await openSupportScene(server);
    const bob = await staff();
    const { path } = await approve(await askFor(bob));
    await operator.api.orgs.suspendOrg({ path: org });
    expect(await reads(bob, org)).toBe(false);
    await operator.api.orgs.activateOrg({ path: org });
    expect(await reads(bob, org)).toBe(true);
    await operator.api.orgs.suspendOrg({ path: org });
    await owner.requests.endAccessRequest({ path });
    await operator.api.orgs.activateOrg({ path: org });
    expect(await reads(bob, org)).toBe(false);
  });

  test("says who it was when its member has another name, and when it is gone", async () => {
    const { staff, askFor, approve, owner, operator } = await openSupportScene(server);
    const bob = await staff();
    const { path } = await approve(await askFor(bob));
    const { id } = await operator.api.members.getMember({ path: bob.path });
    await operator.api.members.updateMember({ path: bob.path, member: { name: uniqueName("renamed") } });
    await operator.api.members.deleteMember({ path: `/orgs/system/members/@${id}` });
    expect((await owner.requests.getAccessRequest({ path })).memberPath).toBe(bob.path);
    await operator.api.members.purgeMember({ path: `/orgs/system/members/@${id}` });
    expect((await owner.requests.getAccessRequest({ path })).memberPath).toBe(bob.path);
  });

  test("gives nobody more than it holds on the platform", async () => {
    const { org, staff, askFor, approve } = await openSupportScene(server);
    const viewer = await staff("/roles/viewer");
    await approve(await askFor(viewer, "/roles/editor"));
    const member = { name: uniqueName("spy") };
    expect(await reads(viewer, org)).toBe(true);
    expect(await failureOf(viewer.api.members.createMember({ parentPath: org, member }))).toMatchObject(denied);
  });

  test("passes nothing on: roles, keys, decisions about requests and the switch itself stay with the org", async () => {
    const { org, staff, askFor, approve, guard, owner, person } = await openSupportScene(server);
    const [bob, eve, alice] = [await staff(), await staff(), await person()];
    await approve(await askFor(bob, "/roles/owner"));
    const ofEve = await askFor(eve);
    const name = uniqueName("mine");
    const roleBinding = { name, subjectPath: alice.path, rolePath: "/roles/viewer" };
    const refused: Record<string, () => Promise<unknown>> = {
      approve: () => bob.requests.approveAccessRequest({ path: ofEve.path }),
      decline: () => bob.requests.declineAccessRequest({ path: ofEve.path }),
      unset: () => guard(bob, false),
    };
    for (const [what, call] of Object.entries(refused)) expect(await failureOf(call()), what).toMatchObject(denied);
    const made: Record<string, () => Promise<unknown>> = {
      grant: () => bob.api.roleBindings.createRoleBinding({ parentPath: org, roleBinding }),
      key: () => bob.api.apiKeys.createApiKey({ parentPath: owner.path, apiKey: { name } }),
      member: () => bob.api.members.createMember({ parentPath: org, member: { name } }),
    };
    for (const [what, call] of Object.entries(made)) {
      const failure = await failureOf(call());
      expect(failure, what).toMatchObject(denied);
      expect(failure.message, what).toContain("the org does itself");
    }
  });

  test("counts in checks about its member, and explains what is missing", async () => {
    const { org, web, staff, askFor, approve, operator } = await openSupportScene(server);
    const bob = await staff();
    const question = { subjectPath: bob.path, permission: "iam.projects.get", resourcePath: web };
    const check = async () => (await operator.access.checkAccess(question)).allowed;
    const batch = async () => (await operator.access.batchCheckAccess({ checks: [question] })).results[0]?.allowed;
    const where = async () => {
      const parentPath = org;
      const { subjectPath, permission } = question;
      return (await operator.access.listResources({ subjectPath, permission, parentPath })).resourcePaths.length;
    };
    // Who asks needs an approval of its own, but for checks.
    await approve(await askFor(operator));
    expect([await check(), await batch(), await where()]).toEqual([false, false, 0]);
    expect(await operator.access.explainAccess(question)).toMatchObject({
      allowed: false,
      deniedBecause: expect.stringContaining("requires that its orgs approve"),
      accessRequestParentPath: org,
    });
    await approve(await askFor(bob));
    expect([await check(), await batch(), await where()]).toEqual([true, true, 2]);
    expect(await operator.access.explainAccess(question)).toMatchObject({ allowed: true });
  });

  test("leaves a line in the log of the org for what is read with it, before it is read", async () => {
    const { org, web, staff, askFor, approve, owner } = await openSupportScene(server);
    const bob = await staff();
    const asked = await askFor(bob);
    await approve(asked);
    await bob.api.members.listMembers({ parentPath: org });
    await bob.api.members.listMembers({ parentPath: org });
    await bob.api.projects.getProject({ path: web });
    await bob.access.listSubjects({ permission: "iam.projects.get", resourcePath: web });
    const filter = `resource_type = "SupportAccess"`;
    const { changes } = await owner.api.changes.listChanges({ parentPath: org, filter, orderBy: "time" });
    expect(changes.map(({ type, method, resourcePath }) => [type, method.split("/")[1], resourcePath])).toEqual([
      [Change_Type.READ, "ListMembers", org],
      [Change_Type.READ, "GetProject", web],
      [Change_Type.READ, "ListSubjects", web],
    ]);
    expect(new Set(changes.map(({ resourceId }) => resourceId))).toEqual(new Set([asked.id]));
    const [actor] = new Set(changes.map(({ actorPath }) => actorPath));
    expect(actor).toMatch(/^\/orgs\/[^/]+\/members\//);
  });
});

describe("who may", () => {
  test("ask: members of the platform, for at most 72 hours, and each sees its own requests", async () => {
    const { org, staff, askFor, approve, owner } = await openSupportScene(server);
    const [bob, eve, nobody] = [await staff("/roles/viewer"), await staff("/roles/viewer"), await staff("")];
    expect(await failureOf(askFor(bob, "/roles/viewer", org, 73))).toMatchObject({
      fields: ["access_request.expire_time"],
    });
    expect(await failureOf(askFor(nobody))).toMatchObject(denied);
    const [ofBob, ofEve] = [await askFor(bob), await askFor(eve)];
    const list = async (who: Person) =>
      (await who.requests.listAccessRequests({ parentPath: org })).accessRequests.map(({ id }) => id);
    expect([await list(bob), await list(eve)]).toEqual([[ofBob.id], [ofEve.id]]);
    expect(await list(owner)).toEqual([ofBob.id, ofEve.id]);
    expect(await failureOf(eve.requests.getAccessRequest({ path: ofBob.path }))).toMatchObject(denied);
    const filter = `member_path = "${bob.path}"`;
    const { accessRequests } = await owner.requests.listAccessRequests({ parentPath: org, filter });
    expect(accessRequests).toEqual([ofBob]);
    const declined = await owner.requests.declineAccessRequest({ path: ofEve.path, message: "No" });
    expect(declined).toMatchObject({ state: DECLINED, memberPath: eve.path });
    await approve(ofBob);
    expect(await bob.requests.endAccessRequest({ path: ofBob.path })).toMatchObject({ enderPath: bob.path });
  });

  test("ask: only where the org requires it", async () => {
    const { staff, askFor } = await openSupportScene(server, false);
    expect(await failureOf(askFor(await staff()))).toMatchObject({ reason: "STATE_FORBIDS" });
  });

  test("approve: only while the org requires it", async () => {
    const { owner, staff, askFor, approve, guard } = await openSupportScene(server);
    const request = await askFor(await staff());
    await guard(owner, false);
    expect(await failureOf(approve(request))).toMatchObject({ reason: "STATE_FORBIDS" });
    await guard(owner, true);
    expect(await approve(request)).toMatchObject({ state: APPROVED });
  });

  test("switch it: nobody by an update of all fields without a value", async () => {
    const { org, owner, guard } = await openSupportScene(server);
    const name = org.replace("/orgs/", "");
    const all = { path: org, org: { name, displayName: "Vault" }, updateMask: { paths: ["*"] } };
    expect(await owner.api.orgs.updateOrg(all)).toMatchObject({ displayName: "Vault", supportAccessRequired: true });
    expect(await guard(owner, false)).toMatchObject({ supportAccessRequired: false });
  });

  test("switch it: an owner of the org, at once on both servers", async () => {
    const { org, guard, operator, owner, person, at, staff } = await openSupportScene(server, false);
    const [admin, bob] = [await person("/roles/admin"), await staff()];
    for (const who of [operator, bob, admin]) {
      expect(await failureOf(guard(who, true))).toMatchObject(denied);
    }
    expect(await reads(bob, org)).toBe(true);
    expect(await guard(owner, true)).toMatchObject({ supportAccessRequired: true });
    expect([await reads(bob, org), await reads(at(bob, second), org)]).toEqual([false, false]);
    expect(await failureOf(guard(admin, false))).toMatchObject(denied);
    expect(await guard(at(owner, second), false)).toMatchObject({ supportAccessRequired: false });
    expect([await reads(bob, org), await reads(at(bob, second), org)]).toEqual([true, true]);
  });

  test("switch it: at once for who has asked about the org so often that its head is read with the caller", async () => {
    const { org, customer, guard, operator, owner, person, at, staff } = await openSupportScene(server, false);
    const [alice, bob] = [await person(), await staff()];
    const other = await operator.api.orgs.createOrg({ org: { name: uniqueName("other") } });
    const id = (await owner.api.orgs.getOrg({ path: org })).id;
    const gets = [server, second].flatMap((on) => [
      () => at(bob, on).api.members.getMember({ path: alice.path }),
      () => at(bob, on).api.members.getMember({ path: alice.path.replace(org, `/orgs/@${id}`) }),
      () => at(bob, on).api.members.createMember({ parentPath: org, member: { name: uniqueName("mine") } }),
    ]);
    for (const get of [...gets, ...gets]) await get();
    for (let time = 0; time < 2; time++) await bob.api.orgs.getOrg({ path: other.path });
    // The customer gets the name of an org that is open.
    const renamed = (path: string, name: string) =>
      operator.api.customers.updateCustomer({ path, customer: { name }, updateMask: { paths: ["name"] } });
    await renamed(other.customerPath, uniqueName("away"));
    const log = { parentPath: (await renamed(customer, other.name)).path };
    await guard(owner, true);
    expect(await failureOf(bob.api.changes.listChanges(log)), "a customer").toMatchObject(denied);
    for (const get of gets) expect(await failureOf(get())).toMatchObject(denied);
    await guard(at(owner, second), false);
    for (const get of gets) await get();
    await bob.api.changes.listChanges(log);
  });

  test("a new org, and that of the platform, are refused", async () => {
    const { operator } = await openSupportScene(server, false);
    const org = { name: uniqueName("new"), supportAccessRequired: true };
    const field = { fields: ["org.support_access_required"] };
    expect(await failureOf(operator.api.orgs.createOrg({ org }))).toMatchObject(field);
    const update = { path: "/orgs/system", org: { supportAccessRequired: true } };
    const mask = { updateMask: { paths: ["support_access_required"] } };
    expect(await failureOf(operator.api.orgs.updateOrg({ ...update, ...mask }))).toMatchObject(field);
  });
});
