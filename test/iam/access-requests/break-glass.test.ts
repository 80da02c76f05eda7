// Access that begins without a decision: who may begin it, what it gives, who learns of it and who ends it.
import { beforeAll, describe, expect, test } from "vitest";
import { type AccessRequest, AccessRequest_State } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { type Person, inHours, openAccessScene } from "./access-scene.ts";

const { APPROVED, ENDED } = AccessRequest_State;

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

/** An org in which bob may begin access to a project without a decision. */
async function openWithGlass(scope: "web" | "org" = "web") {
  const scene = await openAccessScene(server);
  const { operator, org, person, web } = scene;
  const emergency = { name: "emergency", permissions: ["iam.accessRequests.breakGlass"] };
  const { path: rolePath } = await operator.api.roles.createRole({ parentPath: org, role: emergency });
  const owner = await person("/roles/owner");
  const bob = await person(rolePath, scope === "web" ? web : org);
  const begin = (who: Person, resourcePath = web, role = "/roles/editor", hours = 1): Promise<AccessRequest> =>
    scene.ask(who, resourcePath, role, inHours(hours), true);
  return { ...scene, rolePath, owner, bob, begin };
}

test("a member with the permission has the role at once, others see that first, and each who could have approved ends it", async () => {
  const { operator, begin, bob, owner, sees, shop, org, web, person } = await openWithGlass();
  const begun = await begin(bob);
  expect(begun).toMatchObject({ state: APPROVED, breakGlass: true, memberPath: bob.path, requiredApprovals: 0 });
  expect(begun.decision).toBeUndefined();
  expect([await sees(bob), await sees(bob, shop)]).toEqual([true, false]);
  const binding = await operator.api.roleBindings.getRoleBinding({ path: begun.roleBindingPath });
  expect(binding).toMatchObject({ subjectPath: bob.path, rolePath: "/roles/editor", expireTime: begun.expireTime });
  const filter = "break_glass = true AND state = APPROVED";
  const { accessRequests } = await owner.requests.listAccessRequests({ parentPath: org, filter });
  expect(accessRequests).toEqual([begun]);
  // The log names who began it.
  const { changes } = await operator.api.changes.listChanges({ parentPath: org, pageSize: 100 });
  const ofBob = changes.filter(({ actorPath }) => actorPath === bob.path);
  expect(ofBob.map(({ resourceType }) => resourceType).toSorted()).toEqual(["AccessRequest", "RoleBinding"]);
  const viewer = await person("/roles/viewer", web);
  expect(await failureOf(viewer.requests.endAccessRequest({ path: begun.path }))).toMatchObject({
    reason: "PERMISSION_DENIED",
  });
  // It can grant, and cannot delete role bindings.
  const all = { name: uniqueName("grants"), permissions: ["iam.roleBindings.create"] };
  const granting = await operator.api.roles.createRole({ parentPath: org, role: all });
  const approver = await person("/roles/editor", web);
  const roleBinding = { name: uniqueName("b"), subjectPath: approver.path, rolePath: granting.path };
  await operator.api.roleBindings.createRoleBinding({ parentPath: web, roleBinding });
  const ended = await approver.requests.endAccessRequest({ path: begun.path });
  expect(ended).toMatchObject({ state: ENDED, enderPath: approver.path });
  expect(await sees(bob)).toBe(false);
});

describe("access without a decision is refused", () => {
  const denied = { reason: "PERMISSION_DENIED", metadata: { permission: "iam.accessRequests.breakGlass" } };

  test("to who holds the permission until a time, under a condition, or by access that began so itself", async () => {
    const { begin, bob, operator, org, person, web, rolePath } = await openWithGlass();
    const { api } = operator;
    const endings = [
      { rolePath: "/roles/owner", expireTime: inHours(2) },
      { rolePath, expireTime: inHours(2) },
      { rolePath, condition: "request.time > timestamp('2020-01-01T00:00:00Z')" },
    ];
    for (const ending of endings) {
      const carol = await person();
      const roleBinding = { name: uniqueName("b"), subjectPath: carol.path, ...ending };
      await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
      expect(await failureOf(begin(carol)), JSON.stringify(ending.rolePath)).toMatchObject(denied);
    }
    expect((await begin(bob, web, "/roles/owner")).state).toBe(APPROVED);
    const filter = `subject_path = "${bob.path}" AND role_path = "${rolePath}"`;
    const { roleBindings } = await api.roleBindings.listRoleBindings({ parentPath: web, filter });
    for (const { path } of roleBindings) await api.roleBindings.deleteRoleBinding({ path });
    expect(await failureOf(begin(bob))).toMatchObject(denied);
  });

  test("to who has no permission for it there, and for more than four hours", async () => {
    const { begin, bob, person, shop, org } = await openWithGlass();
    const [nobody, admin] = [await person(), await person("/roles/admin")];
    for (const call of [() => begin(nobody), () => begin(admin), () => begin(bob, shop), () => begin(bob, org)]) {
      expect(await failureOf(call())).toMatchObject(denied);
    }
    expect((await failureOf(begin(bob, undefined, undefined, 5))).fields).toEqual(["access_request.expire_time"]);
  });

  test("with a key that is narrowed", async () => {
    const { begin, bob, operator, withKey } = await openWithGlass();
    const apiKey = { name: "narrow", scopes: ["iam.accessRequests.*"] };
    const { secret = "" } = await operator.api.apiKeys.createApiKey({ parentPath: bob.path, apiKey });
    expect(await failureOf(begin(withKey(bob.path, secret)))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
  });

  test("with a key that is limited, which the owner of a project has made", async () => {
    const { begin, bob, operator, withKey, web, org, person } = await openWithGlass();
    const maker = await person("/roles/owner", web);
    const roleBinding = { name: uniqueName("b"), subjectPath: maker.path, rolePath: "/roles/api-keys-admin" };
    await operator.api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    const made = await maker.api.apiKeys.createApiKey({ parentPath: bob.path, apiKey: { name: "limited" } });
    expect(made.limited).toBe(true);
    const limited = withKey(bob.path, made.secret ?? "");
    expect(await failureOf(begin(limited))).toMatchObject({
      reason: "GRANT_EXCEEDS_OWN",
      message: expect.stringContaining("limited"),
    });
    expect((await begin(bob)).state).toBe(APPROVED);
  });

  test("where nobody could bind the role: one of another org, and in a project that is suspended", async () => {
    const { begin, bob, operator, web } = await openWithGlass();
    const { rolePath: elsewhere } = await openWithGlass();
    expect((await failureOf(begin(bob, web, elsewhere))).fields).toEqual(["access_request.role_path"]);
    await operator.api.projects.suspendProject({ path: web });
    expect(await failureOf(begin(bob))).toMatchObject({ reason: "PERMISSION_DENIED" });
  });

  test("in a suspended org, to a suspended member, and to others than members", async () => {
    const { begin, bob, operator, org } = await openWithGlass();
    expect((await failureOf(begin(operator))).reason).toBe("STATE_FORBIDS");
    await operator.api.members.suspendMember({ path: bob.path });
    expect((await failureOf(begin(bob))).reason).toBe("TOKEN_INVALID");
    await operator.api.members.activateMember({ path: bob.path });
    await operator.api.orgs.suspendOrg({ path: org });
    expect(await failureOf(begin(bob))).toMatchObject({ reason: "PERMISSION_DENIED" });
  });
});

describe("access without a decision begins", () => {
  test("with a role of which the member holds nothing, also one that can begin further access", async () => {
    const { begin, bob, operator, org, person, web, rolePath } = await openWithGlass("org");
    await person("/roles/access-admin");
    const role = { name: uniqueName("all"), permissions: ["iam.members.delete", "iam.roleBindings.grantUnheld"] };
    const { path } = await operator.api.roles.createRole({ parentPath: org, role });
    for (const [resourcePath, wanted] of [
      [org, path],
      [org, "/roles/owner"],
      [web, rolePath],
    ] as const) {
      expect((await begin(bob, resourcePath, wanted)).state, wanted).toBe(APPROVED);
    }
  });

  test("also for who has asked as often as one may, which a credential that may not begin does as well", async () => {
    const { begin, bob, ask } = await openWithGlass();
    for (let count = 0; count < 50; count++) await bob.requests.cancelAccessRequest({ path: (await ask(bob)).path });
    expect(await failureOf(ask(bob))).toMatchObject({ reason: "LIMIT_EXCEEDED", metadata: { limit: "50" } });
    expect((await begin(bob)).state).toBe(APPROVED);
  });
});

test("only who holds every permission gives the permission to begin without a decision, or puts it into a role", async () => {
  const { rolePath, person, org, web, bob, operator } = await openWithGlass();
  const [admin, ofWeb] = [await person("/roles/admin"), await person("/roles/owner", web)];
  const role = { name: "own-emergency", permissions: ["iam.accessRequests.breakGlass"] };
  const roleBinding = () => ({ name: uniqueName("b"), rolePath, subjectPath: admin.path });
  const group = await operator.api.groups.createGroup({ parentPath: org, group: { name: "on-call" } });
  await operator.api.roleBindings.createRoleBinding({
    parentPath: web,
    roleBinding: { ...roleBinding(), subjectPath: group.path },
  });
  const { api } = admin;
  for (const call of [
    () => api.roles.createRole({ parentPath: org, role }),
    () => api.roleBindings.createRoleBinding({ parentPath: web, roleBinding: roleBinding() }),
    () => api.groupMembers.createGroupMember({ parentPath: group.path, groupMember: { memberPath: admin.path } }),
    () => api.apiKeys.createApiKey({ parentPath: bob.path, apiKey: { name: "key" } }),
  ]) {
    expect(await failureOf(call()), String(call)).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
  }
  const bound = await ofWeb.api.roleBindings.createRoleBinding({ parentPath: web, roleBinding: roleBinding() });
  expect(bound.rolePath).toBe(rolePath);
});

test("what is begun without a decision passes nothing on", async () => {
  const { begin, bob, owner, org, sees, person } = await openWithGlass("org");
  await begin(bob, org, "/roles/owner");
  expect(await sees(bob, org)).toBe(true);
  const roleBinding = { name: uniqueName("b"), rolePath: "/roles/viewer", subjectPath: bob.path };
  expect(await failureOf(bob.api.roleBindings.createRoleBinding({ parentPath: org, roleBinding }))).toMatchObject({
    reason: "GRANT_EXCEEDS_OWN",
  });
  const keyFor = ({ path }: Person) => bob.api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "by-bob" } });
  expect(await failureOf(keyFor(owner))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
  // For somebody who holds nothing, it counts nothing that comes later.
  expect((await keyFor(await person())).limited).toBe(true);
  const { roleBindings } = await owner.api.roleBindings.listRoleBindings({
    parentPath: org,
    filter: `subject_path = "${owner.path}"`,
  });
  for (const { path } of roleBindings) {
    expect(await failureOf(bob.api.roleBindings.deleteRoleBinding({ path }))).toMatchObject({
      reason: "REVOKE_EXCEEDS_OWN",
    });
  }
});
