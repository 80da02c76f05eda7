// Tests what is special about role bindings. Tests of what all resources have in common are in test/api.
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { overFirst } from "../../support/transports.ts";

let server: TestServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await startTestServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

const inHours = (hours: number) => timestampFromDate(new Date(Date.now() + hours * 3_600_000));

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  let api: Api;
  let org: string;
  let customer: string;
  let project: string;
  let service: string;

  beforeAll(async () => {
    api = createApi(protocol, server.url, server.operatorKey);
    ({ path: service } = await api.services.createService({ service: { name: uniqueName("compute") } }));
    // The tests of both protocols share the org `system`.
    for (const name of ["keepers", "spare"]) {
      await api.groups.updateGroup({ path: `orgs/system/groups/${name}`, group: { name }, allowMissing: true });
    }
  });
  /** Creates an org of its own for what changes others than role bindings. */
  const open = async (): Promise<void> => {
    const created = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
    [org, customer] = [created.path, created.customerPath];
    for (const name of ["alice", "bob"]) await api.members.createMember({ parentPath: org, member: { name } });
    await api.groups.createGroup({ parentPath: org, group: { name: "sre" } });
    await api.roles.createRole({
      parentPath: org,
      role: { name: "deployer", permissions: ["compute.instances.start"] },
    });
    ({ path: project } = await api.projects.createProject({ parentPath: org, project: { name: "web" } }));
  };

  /** Creates a role binding; by default, of a role for alice. */
  const grant = (parentPath: string, fields: object = {}) =>
    api.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: { name: uniqueName("b"), rolePath: "/roles/viewer", subjectPath: `${org}/members/alice`, ...fields },
    });
  const get = (path: string) => api.roleBindings.getRoleBinding({ path });

  describe("the scope of a role binding:", () => {
    beforeAll(open);

    const scopes = {
      "an org": { parent: () => org, subject: () => `${org}/groups/sre` },
      "a project": { parent: () => project, subject: () => `${org}/groups/sre` },
      "a customer": { parent: () => customer, subject: () => `${org}/groups/sre` },
      "a service": { parent: () => service, subject: () => "/orgs/system/groups/keepers" },
      "the platform": { parent: () => "", subject: () => "/orgs/system/groups/keepers" },
    };
    const cases = Object.entries(scopes).map(([name, scope]) => ({ name, ...scope }));

    test.each(cases)(
      "$name returns it by name and id, lists it, changes and deletes it",
      async ({ parent, subject }) => {
        const name = uniqueName("binding");
        const binding = await grant(parent(), { name, subjectPath: subject() });
        expect(binding).toMatchObject({
          path: `${parent()}/roleBindings/${name}`,
          rolePath: "/roles/viewer",
          subjectPath: subject(),
          displayName: name,
          condition: "",
        });
        expect(await get(binding.path)).toEqual(binding);
        expect(await get(`${parent()}/roleBindings/@${binding.id}`)).toEqual(binding);
        const filter = `role_path = "/roles/viewer" AND subject_path = "${subject()}" AND path = "${binding.path}"`;
        const listed = await api.roleBindings.listRoleBindings({ parentPath: parent(), filter });
        expect(listed.roleBindings).toEqual([binding]);
        const { roleBindings } = await api.roleBindings.batchGetRoleBindings({
          parentPath: parent(),
          paths: [binding.path],
        });
        expect(roleBindings).toEqual([binding]);
        const changed = await api.roleBindings.updateRoleBinding({
          path: binding.path,
          roleBinding: { description: "on call", etag: binding.etag },
        });
        expect(changed).toMatchObject({ id: binding.id, description: "on call" });
        expect(await get(binding.path)).toEqual(changed);
        expect(await failureOf(grant(parent(), { name, subjectPath: subject() }))).toMatchObject({
          code: "AlreadyExists",
          metadata: { name },
        });
        await api.roleBindings.deleteRoleBinding({ path: binding.path });
        expect(await failureOf(get(binding.path))).toMatchObject({ code: "NotFound" });
        await grant(parent(), { name, subjectPath: subject() });
      },
    );

    test.each(cases)("$name allows an update to create it", async ({ parent, subject }) => {
      const path = `${parent()}/roleBindings/${uniqueName("made")}`;
      const roleBinding = { rolePath: "/roles/viewer", subjectPath: subject() };
      const made = await api.roleBindings.updateRoleBinding({ path, roleBinding, allowMissing: true });
      expect(made).toMatchObject({ path, ...roleBinding });
      const missing = `${parent()}/roleBindings/nobody`;
      for (const call of [
        () => api.roleBindings.updateRoleBinding({ path: missing, roleBinding: { description: "x" } }),
        () => api.roleBindings.deleteRoleBinding({ path: missing }),
      ]) {
        expect(await failureOf(call())).toMatchObject({ code: "NotFound" });
      }
      await api.roleBindings.deleteRoleBinding({ path: missing, allowMissing: true });
    });

    test.each(cases)("$name lists only its own", async ({ parent, subject }) => {
      const { id } = await grant(parent(), { subjectPath: subject() });
      for (const other of cases) {
        const { roleBindings } = await api.roleBindings.listRoleBindings({
          parentPath: other.parent(),
          pageSize: 1000,
        });
        const isOwn = other.parent() === parent();
        expect([other.name, roleBindings.some((each) => each.id === id)]).toEqual([other.name, isOwn]);
      }
    });

    test.each(cases)(
      "$name has it in the change log of its subject's org, with the columns of its row",
      async ({ parent, subject }) => {
        const binding = await grant(parent(), { subjectPath: subject() });
        const [line] = await sql.query(
          "select orgs.name, resource_type, resource_path, before, after from changes join orgs on orgs.id = org_id where resource_id = $1",
          [binding.id],
        );
        expect(line).toMatchObject({ resource_type: "RoleBinding", resource_path: binding.path, before: null });
        expect(subject()).toContain(`/orgs/${String(line?.["name"])}/`);
        const [row] = await sql.query(
          "select to_jsonb(role_bindings) - 'org_customer_id' as row from role_bindings where id = $1",
          [binding.id],
        );
        const after = line?.["after"] as object;
        expect(Object.keys(after).toSorted()).toEqual(Object.keys(row?.["row"] as object).toSorted());
        expect(after).toMatchObject({ predefined_role: "viewer", role_id: null, member_id: null, condition: "" });
      },
    );

    test("a list with - for the project covers several projects", async () => {
      await open();
      const { path: other } = await api.projects.createProject({ parentPath: org, project: { name: "db" } });
      const bindings = [await grant(project), await grant(other), await grant(project)];
      const { roleBindings } = await api.roleBindings.listRoleBindings({ parentPath: `${org}/projects/-` });
      expect(roleBindings.map(({ id }) => id).toSorted()).toEqual(bindings.map(({ id }) => id).toSorted());
    });
  });

  describe("the subject", () => {
    beforeEach(open);

    const field = { code: "InvalidArgument", fields: ["role_binding.subject_path"] };

    test("can be given with ids and is returned with names, which follow renames", async () => {
      const alice = await api.members.getMember({ path: `${org}/members/alice` });
      const { id } = await api.orgs.getOrg({ path: org });
      const binding = await grant(org, { subjectPath: `orgs/@${id}/members/@${alice.id}` });
      expect(binding.subjectPath).toBe(`${org}/members/alice`);
      await api.members.updateMember({ path: alice.path, member: { name: "alicia" } });
      expect((await get(binding.path)).subjectPath).toBe(`${org}/members/alicia`);
    });

    test("must exist and not be deleted", async () => {
      for (const subjectPath of [`${org}/members/nobody`, `${org}/groups/nobody`]) {
        expect(await failureOf(grant(org, { subjectPath }))).toMatchObject({ code: "NotFound" });
      }
      const { id } = await api.members.deleteMember({ path: `${org}/members/bob` });
      const deleted = await failureOf(grant(org, { subjectPath: `${org}/members/@${id}` }));
      expect(deleted).toMatchObject({ code: "FailedPrecondition", metadata: { state: "DELETED" } });
    });

    test("is a member or a group", async () => {
      for (const subjectPath of ["", "alice", org, project, `${org}/members/-`, `${org}/groups/sre/members/alice`]) {
        expect(await failureOf(grant(org, { subjectPath }))).toMatchObject(field);
      }
    });

    test("is in the same org for an org or a project", async () => {
      const other = await api.orgs.createOrg({ org: { name: uniqueName("other"), customerPath: customer } });
      await api.members.createMember({ parentPath: other.path, member: { name: "mallory" } });
      for (const parent of [org, project]) {
        const failure = await failureOf(grant(parent, { subjectPath: `${other.path}/members/mallory` }));
        expect(failure).toMatchObject(field);
        expect(failure.message).toContain(`must be in the same org, ${org}`);
      }
    });

    test("is in any org of the customer for a customer, and the error does not reveal other orgs", async () => {
      const sibling = await api.orgs.createOrg({ org: { name: uniqueName("sibling"), customerPath: customer } });
      await api.members.createMember({ parentPath: sibling.path, member: { name: "carol" } });
      const binding = await grant(customer, { subjectPath: `${sibling.path}/members/carol` });
      expect(binding.subjectPath).toBe(`${sibling.path}/members/carol`);
      const foreign = await api.orgs.createOrg({ org: { name: uniqueName("foreign") } });
      await api.members.createMember({ parentPath: foreign.path, member: { name: "mallory" } });
      const messages = [];
      for (const path of [foreign.path, "/orgs/nowhere"]) {
        const failure = await failureOf(grant(customer, { subjectPath: `${path}/members/mallory` }));
        expect(failure).toMatchObject(field);
        messages.push(failure.message);
      }
      expect(messages[0]).toBe(messages[1]);
      expect(messages[0]).toContain(`must be in one of the orgs of ${customer}`);
    });

    test("is in the org `system` for a service and the platform", async () => {
      for (const parent of [service, ""]) {
        for (const path of [org, "/orgs/nowhere"]) {
          expect(await failureOf(grant(parent, { subjectPath: `${path}/members/alice` }))).toMatchObject(field);
        }
      }
    });

    test("is returned by its id after its deletion; a group is deleted with its bindings", async () => {
      const { id } = await api.members.getMember({ path: `${org}/members/alice` });
      const binding = await grant(org);
      await api.members.deleteMember({ path: `${org}/members/alice` });
      expect((await get(binding.path)).subjectPath).toBe(`${org}/members/@${id}`);
      const ofGroup = await grant(org, { subjectPath: `${org}/groups/sre` });
      await api.groups.deleteGroup({ path: `${org}/groups/sre` });
      expect(await failureOf(get(ofGroup.path))).toMatchObject({ code: "NotFound" });
    });
  });

  describe("the role", () => {
    beforeEach(open);

    const field = { code: "InvalidArgument", fields: ["role_binding.role_path"] };

    test("is a predefined one or one of the org, by name or id, and follows renames", async () => {
      const deployer = await api.roles.getRole({ path: `${org}/roles/deployer` });
      const viewer = await api.roles.getRole({ path: "roles/viewer" });
      for (const parent of [org, project]) {
        const binding = await grant(parent, { rolePath: `${org}/roles/@${deployer.id}` });
        expect(binding.rolePath).toBe(`${org}/roles/deployer`);
        expect((await grant(parent, { rolePath: `roles/@${viewer.id}` })).rolePath).toBe("/roles/viewer");
      }
      const { path } = await grant(org, { rolePath: deployer.path });
      await api.roles.updateRole({ path: deployer.path, role: { name: "starter" } });
      expect((await get(path)).rolePath).toBe(`${org}/roles/starter`);
    });

    test("must exist", async () => {
      for (const rolePath of ["/roles/nobody", `${org}/roles/nobody`]) {
        expect(await failureOf(grant(org, { rolePath }))).toMatchObject({ code: "NotFound" });
      }
      for (const rolePath of ["", "viewer", `${org}/groups/sre`, "/roles/-"]) {
        expect(await failureOf(grant(org, { rolePath }))).toMatchObject(field);
      }
    });

    test("of another org cannot be granted", async () => {
      const other = await api.orgs.createOrg({ org: { name: uniqueName("other") } });
      const { path: rolePath } = await api.roles.createRole({ parentPath: other.path, role: { name: "deployer" } });
      for (const parent of [org, project]) expect(await failureOf(grant(parent, { rolePath }))).toMatchObject(field);
    });

    test("of an org can be granted only on the org and its projects", async () => {
      const rolePath = `${org}/roles/deployer`;
      expect(await failureOf(grant(customer, { rolePath }))).toMatchObject(field);
      const subjectPath = "/orgs/system/groups/keepers";
      for (const parent of [service, ""]) {
        expect(await failureOf(grant(parent, { rolePath, subjectPath }))).toMatchObject(field);
      }
    });
  });

  test("neither the subject nor the role can be changed, and both can be sent back", async () => {
    await open();
    const binding = await grant(org);
    for (const [change, field] of [
      [{ subjectPath: `${org}/members/bob` }, "subject_path"],
      [{ rolePath: "/roles/editor" }, "role_path"],
    ] as const) {
      const update = api.roleBindings.updateRoleBinding({ path: binding.path, roleBinding: change });
      expect(await failureOf(update)).toMatchObject({ code: "InvalidArgument", fields: [`role_binding.${field}`] });
    }
    const { subjectPath, rolePath } = binding;
    const roleBinding = { subjectPath: subjectPath.slice(1), rolePath: rolePath.slice(1), description: "same" };
    const changed = await api.roleBindings.updateRoleBinding({ path: binding.path, roleBinding });
    expect(changed).toMatchObject({ subjectPath, rolePath, description: "same" });
  });

  describe("a project", () => {
    beforeEach(open);

    test("that is suspended refuses writes below it until it is activated", async () => {
      const binding = await grant(project);
      await api.projects.suspendProject({ path: project });
      const refused = { code: "FailedPrecondition", reason: "STATE_FORBIDS", metadata: { resource: project } };
      for (const call of [
        () => grant(project),
        () => api.roleBindings.updateRoleBinding({ path: binding.path, roleBinding: { description: "x" } }),
        () => api.roleBindings.deleteRoleBinding({ path: binding.path }),
      ]) {
        expect(await failureOf(call())).toMatchObject(refused);
      }
      expect(await get(binding.path)).toEqual(binding);
      await grant(org);
      await api.projects.activateProject({ path: project });
      await api.roleBindings.deleteRoleBinding({ path: binding.path });
    });

    test("that is deleted keeps its bindings under its id, unchanged", async () => {
      const binding = await grant(project);
      const { path } = await api.projects.deleteProject({ path: project });
      expect((await get(`${path}/roleBindings/${binding.name}`)).id).toBe(binding.id);
      const refused = { code: "FailedPrecondition", metadata: { resource: path, state: "DELETED" } };
      expect(await failureOf(grant(path))).toMatchObject(refused);
      const deletion = api.roleBindings.deleteRoleBinding({ path: `${path}/roleBindings/${binding.name}` });
      expect(await failureOf(deletion)).toMatchObject(refused);
      await api.projects.undeleteProject({ path });
      expect(await get(binding.path)).toMatchObject({ id: binding.id });
    });

    test("that does not exist has none", async () => {
      for (const call of [
        () => grant(`${org}/projects/nowhere`),
        () => get(`${org}/projects/nowhere/roleBindings/x`),
        () => api.roleBindings.listRoleBindings({ parentPath: `${org}/projects/nowhere` }),
      ]) {
        expect(await failureOf(call())).toMatchObject({ code: "NotFound" });
      }
    });
  });

  test("a customer that is deleted refuses new bindings", async () => {
    await open();
    const binding = await grant(customer);
    const { path } = await api.customers.deleteCustomer({ path: customer });
    for (const call of [
      () => grant(path, { subjectPath: `${org}/members/alice` }),
      () => api.roleBindings.deleteRoleBinding({ path: `${path}/roleBindings/${binding.name}` }),
    ]) {
      expect((await failureOf(call())).code).not.toBe("Internal");
    }
  });

  describe("its start and expire times", () => {
    beforeAll(open);

    test("are stored, changed and removed", async () => {
      const [startTime, expireTime] = [inHours(1), inHours(2)];
      const binding = await grant(org, { startTime, expireTime });
      expect(binding).toMatchObject({ startTime: msOf(startTime), expireTime: msOf(expireTime) });
      const later = await api.roleBindings.updateRoleBinding({
        path: binding.path,
        roleBinding: { expireTime: inHours(3) },
      });
      expect(later.startTime).toEqual(binding.startTime);
      const endless = await api.roleBindings.updateRoleBinding({
        path: binding.path,
        roleBinding: {},
        updateMask: { paths: ["expire_time", "start_time"] },
      });
      expect([endless.startTime, endless.expireTime]).toEqual([undefined, undefined]);
    });

    test.each([
      ["has already expired", { expireTime: inHours(-1) }, "expire_time"],
      ["ends before it starts", { startTime: inHours(2), expireTime: inHours(1) }, "start_time"],
      ["starts and ends at the same time", { startTime: at("2100-01-01"), expireTime: at("2100-01-01") }, "start_time"],
      ["starts in another era", { startTime: at("1800-01-01") }, "start_time"],
    ])("are refused if the binding %s", async (_what, times, field) => {
      const refused = { code: "InvalidArgument", fields: [`role_binding.${field}`] };
      expect(await failureOf(grant(org, times))).toMatchObject(refused);
      const { path } = await grant(org);
      expect(await failureOf(api.roleBindings.updateRoleBinding({ path, roleBinding: times }))).toMatchObject(refused);
    });

    test("end the binding, whose name is free then", async () => {
      for (const parent of [org, project, customer]) {
        const binding = await grant(parent, { expireTime: inHours(1) });
        await sql.query("update role_bindings set expire_time = now() - interval '1 s' where id = $1", [binding.id]);
        expect(await failureOf(get(binding.path))).toMatchObject({ code: "NotFound" });
        const { roleBindings } = await api.roleBindings.listRoleBindings({ parentPath: parent, pageSize: 1000 });
        expect(roleBindings.map(({ id }) => id)).not.toContain(binding.id);
        const deletion = api.roleBindings.deleteRoleBinding({ path: binding.path });
        expect(await failureOf(deletion)).toMatchObject({ code: "NotFound" });
        expect((await grant(parent, { name: binding.name })).id).not.toBe(binding.id);
      }
    });

    test("free the name only in its own project", async () => {
      const { path: other } = await api.projects.createProject({ parentPath: org, project: { name: "db" } });
      const [old, kept] = [await grant(project, { name: "same" }), await grant(other, { name: "same" })];
      await sql.query("update role_bindings set expire_time = now() - interval '1 s' where id = $1", [old.id]);
      await grant(project, { name: "same" });
      expect(await get(kept.path)).toEqual(kept);
    });
  });

  describe("its condition", () => {
    beforeAll(open);

    test("is stored as it was written", async () => {
      const condition = 'request.time.getHours("Europe/Berlin") < 18 && resource.labels.env != "prod"';
      const binding = await grant(org, { condition });
      expect(binding.condition).toBe(condition);
      const changed = await api.roleBindings.updateRoleBinding({
        path: binding.path,
        roleBinding: { condition: "context.vip" },
      });
      expect(changed.condition).toBe("context.vip");
    });

    test.each(["request.time <", "user == 'x'", "1 + 1", "resource.path.matches('(a+)+$')", "a".repeat(2049)])(
      "is refused if it is invalid: %s",
      async (condition) => {
        const refused = { code: "InvalidArgument", fields: ["role_binding.condition"] };
        expect(await failureOf(grant(org, { condition }))).toMatchObject(refused);
        const { path } = await grant(org);
        const update = api.roleBindings.updateRoleBinding({ path, roleBinding: { condition } });
        expect(await failureOf(update)).toMatchObject(refused);
      },
    );
  });
});

const at = (date: string) => timestampFromDate(new Date(date));

/** Returns a time as the service stores it: to the millisecond. */
function msOf(time: ReturnType<typeof inHours>) {
  return timestampFromDate(timestampDate(time));
}
