// Who asks for access, who sees and decides it, and what becomes of it.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { AccessRequest_State } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { createBeforeEnd } from "../../support/create-before-end.ts";
import { failureOf } from "../../support/failure.ts";
import { type SharedServer, sharedServer } from "../../support/shared-server.ts";
import { protocols, overFirst } from "../../support/transports.ts";
import { inHours, openAccessScene } from "./access-scene.ts";

const { PENDING, APPROVED, DECLINED, CANCELLED, EXPIRED, ENDED } = AccessRequest_State;

/** The same for what is there and for what is not. */
const unseen = { reason: "PERMISSION_DENIED", message: expect.stringContaining("or it might not exist") };

let server: SharedServer;
/** For tests that leave nothing behind which others see. */
let scene: Awaited<ReturnType<typeof openAccessScene>>;
beforeAll(async () => {
  server = await sharedServer();
  scene = await openAccessScene(server);
});

describe.each(overFirst(protocols))("over %s", (protocol) => {
  test("a member without a role asks, the admin of a project approves, and the access ends early", async () => {
    const { operator, ask, person, sees, web, shop, org } = await openAccessScene(server, protocol);
    const [alice, owner] = [await person(), await person("/roles/owner", web)];
    const asked = await ask(alice);
    expect(asked).toMatchObject({ state: PENDING, memberPath: alice.path, resourcePath: web });
    expect(asked.decision).toBeUndefined();
    expect(asked.path).toBe(`${org}/accessRequests/@${asked.id}`);
    const { path, etag } = asked;
    const approved = await owner.requests.approveAccessRequest({ path, message: "For the ticket", etag });
    const decision = { deciderPath: owner.path, approved: true, message: "For the ticket" };
    expect(approved).toMatchObject({ state: APPROVED, decision, enderPath: "" });
    expect(await alice.requests.getAccessRequest({ path })).toEqual(approved);
    expect([await sees(alice), await sees(alice, shop)]).toEqual([true, false]);
    const binding = await operator.api.roleBindings.getRoleBinding({ path: approved.roleBindingPath });
    expect(binding).toMatchObject({ subjectPath: alice.path, rolePath: "/roles/viewer", expireTime: asked.expireTime });
    const ended = await alice.requests.endAccessRequest({ path });
    expect(ended).toMatchObject({ state: ENDED, decision, enderPath: alice.path, roleBindingPath: "" });
    expect(await sees(alice)).toBe(false);
  });

  test("one who declines says why, and one who asks withdraws", async () => {
    const { ask, person, sees } = await openAccessScene(server, protocol);
    const [alice, owner] = [await person(), await person("/roles/owner")];
    const [first, second] = [await ask(alice), await ask(alice)];
    const declined = await owner.requests.declineAccessRequest({ path: first.path, message: "Ask the shop" });
    expect(declined).toMatchObject({
      state: DECLINED,
      decision: { deciderPath: owner.path, approved: false, message: "Ask the shop" },
      endTime: declined.updateTime,
    });
    const cancelled = await alice.requests.cancelAccessRequest({ path: second.path });
    expect(cancelled).toMatchObject({ state: CANCELLED, enderPath: alice.path });
    expect(cancelled.decision).toBeUndefined();
    expect(await sees(alice)).toBe(false);
  });
});

describe("who may", () => {
  test("decide: who can grant the role, and not who asks", async () => {
    const { ask, person, web, shop } = await openAccessScene(server);
    const [alice, bob] = [await person("/roles/owner", web), await person()];
    const [ofWeb, ofShop] = [await person("/roles/owner", web), await person("/roles/owner", shop)];
    const granter = await person("/roles/access-admin", web);
    const { path } = await ask(alice);
    const approve = (who: typeof alice, of = path) => failureOf(who.requests.approveAccessRequest({ path: of }));
    const decline = (who: typeof alice) => failureOf(who.requests.declineAccessRequest({ path }));
    for (const failure of [await approve(alice), await decline(alice)]) {
      expect(failure).toMatchObject({ reason: "PERMISSION_DENIED", message: expect.stringContaining("asks") });
    }
    for (const failure of [await approve(bob), await decline(bob), await approve(ofShop)]) {
      expect(failure).toMatchObject(unseen);
    }
    const editing = await ask(alice, web, "/roles/editor");
    expect(await approve(granter, editing.path)).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
    expect((await ofWeb.requests.approveAccessRequest({ path })).state).toBe(APPROVED);
  });

  test("see: who asks, who can grant it, and who may list all", async () => {
    const { ask, person, org, web, shop, operator } = await openAccessScene(server);
    const [alice, bob, ofWeb] = [await person(), await person(), await person("/roles/owner", web)];
    const [viewer, granter] = [await person("/roles/viewer"), await person("/roles/access-admin")];
    const [a, b, c] = [await ask(alice), await ask(bob, shop), await ask(bob, org)];
    const all = [a, b, c];
    // Grants roles everywhere but on one project.
    const partly = await person();
    const grants = { name: "grants", permissions: ["iam.roleBindings.create"] };
    const { path: rolePath } = await operator.api.roles.createRole({ parentPath: org, role: grants });
    const condition = `!resource.path.startsWith("${shop}")`;
    const roleBinding = { name: "partly", rolePath, subjectPath: partly.path, condition };
    await operator.api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    const table = [
      [alice, [a]],
      [bob, [b, c]],
      [ofWeb, [a]],
      [granter, all],
      [partly, [a, c]],
      [viewer, all],
      [operator, all],
      [await person(), []],
    ] as const;
    for (const [who, expected] of table) {
      const { accessRequests } = await who.requests.listAccessRequests({ parentPath: org, pageSize: 100 });
      expect(accessRequests.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      for (const request of all) {
        const got = who.requests.getAccessRequest({ path: request.path });
        if (expected.some(({ id }) => id === request.id)) expect(await got).toEqual(request);
        else expect(await failureOf(got)).toMatchObject(unseen);
      }
    }
    const { accessRequests } = await bob.requests.listAccessRequests({
      parentPath: org,
      filter: `resource_path = "${shop}"`,
    });
    expect(accessRequests).toEqual([b]);
  });

  test("withdraw and end: who asks, and end: who can revoke", async () => {
    const { ask, person, web, operator } = await openAccessScene(server);
    const [alice, owner, granter] = [
      await person(),
      await person("/roles/owner"),
      await person("/roles/access-admin", web),
    ];
    const { path } = await ask(alice, web, "/roles/editor");
    const denied = { reason: "PERMISSION_DENIED" };
    const seeing = await person("/roles/owner", web);
    expect(await failureOf(seeing.requests.cancelAccessRequest({ path }))).toMatchObject(denied);
    await owner.requests.approveAccessRequest({ path });
    const viewer = await person("/roles/viewer");
    expect(await failureOf(viewer.requests.endAccessRequest({ path }))).toMatchObject(denied);
    // It does not hold itself what it would take away.
    expect(await failureOf(granter.requests.endAccessRequest({ path }))).toMatchObject({
      reason: "REVOKE_EXCEEDS_OWN",
    });
    expect(await operator.requests.endAccessRequest({ path })).toMatchObject({
      state: ENDED,
      enderPath: operator.path,
    });
  });

  test("ask: members of the org, in it", async () => {
    const { ask, person, operator, withKey, org, web } = await openAccessScene(server);
    const other = await openAccessScene(server);
    const stranger = await other.person();
    const denied = { reason: "PERMISSION_DENIED" };
    expect(await failureOf(ask(stranger))).toMatchObject(denied);
    expect(await failureOf(ask(operator))).toMatchObject({ reason: "STATE_FORBIDS" });
    const missing = { ...denied, message: expect.stringContaining("or it might not exist") };
    for (const parentPath of [org, "/orgs/no-such-org"]) {
      expect(await failureOf(stranger.requests.listAccessRequests({ parentPath }))).toMatchObject(missing);
    }
    const alice = await person();
    const scopes = [["iam.projects.get"], ["iam.accessRequests.*"]];
    for (const [index, each] of scopes.entries()) {
      const apiKey = { name: `k${index}`, scopes: each };
      const { secret = "" } = await operator.api.apiKeys.createApiKey({ parentPath: alice.path, apiKey });
      const asking = ask(withKey(alice.path, secret), web);
      if (index === 0) expect(await failureOf(asking)).toMatchObject(denied);
      else expect((await asking).memberPath).toBe(alice.path);
    }
  });
});

test.each([
  ["a resource in another org", { resourcePath: "/orgs/system" }, "resource_path"],
  ["a group", { resourcePath: "groups/a" }, "resource_path"],
  ["no such role", { rolePath: "/roles/no-such-role" }, undefined],
  ["a role of another org", { rolePath: "/orgs/system/roles/x" }, "role_path"],
  ["a time that is over", { expireTime: inHours(-1) }, "expire_time"],
  ["more than 30 days", { expireTime: inHours(24 * 30 + 1) }, "expire_time"],
  ["no time", { expireTime: undefined }, "expire_time"],
  ["no reason", { reason: "" }, "reason"],
] as const)("a request for %s is refused", async (_what, wrong, field) => {
  const { person, org, web } = scene;
  const right = { rolePath: "/roles/viewer", resourcePath: web, reason: "a", expireTime: inHours(1) };
  const { requests } = await person();
  const failure = await failureOf(
    requests.createAccessRequest({ parentPath: org, accessRequest: { ...right, ...wrong } }),
  );
  if (field === undefined) expect(failure.code).toBe("NotFound");
  else expect(failure.fields).toEqual([`access_request.${field}`]);
});

test("a list has what it can decide about, when requests are about more projects than its conditions may cost", async () => {
  const { person, operator, org, ask, web } = scene;
  const projects = Array.from({ length: 12 }, (_, index) => ({ project: { name: `costly-${index}` } }));
  const created = await operator.api.projects.batchCreateProjects({ parentPath: org, requests: projects });
  const [alice, bob, approver] = [await person(), await person(), await person("/roles/admin", web)];
  // Each project takes almost all that a decision may cost, and ten all that a request may.
  const conditions = Array.from({ length: 80 }, (_, number) =>
    Array(12).fill(`resource.path == "/orgs/none-${number}"`).join(" || "),
  );
  const requests = conditions.map((condition, index) => ({
    roleBinding: { name: `costly-${index}`, rolePath: "/roles/admin", subjectPath: approver.path, condition },
  }));
  await operator.api.roleBindings.batchCreateRoleBindings({ parentPath: org, requests });
  const wanted = await ask(bob, web);
  for (const [index, { path }] of created.projects.entries()) await ask(index < 6 ? alice : bob, path);
  const { accessRequests } = await approver.requests.listAccessRequests({ parentPath: org });
  expect(accessRequests.map(({ path }) => path)).toEqual([wanted.path]);
});

test("a member has ten requests that wait, and asks again after one of them is over", async () => {
  const { ask, person } = await openAccessScene(server);
  const alice = await person();
  const first = await ask(alice);
  for (let count = 1; count < 10; count++) await ask(alice);
  expect(await failureOf(ask(alice))).toMatchObject({ reason: "LIMIT_EXCEEDED", metadata: { limit: "10" } });
  await alice.requests.cancelAccessRequest({ path: first.path });
  expect((await ask(alice)).state).toBe(PENDING);
});

test("a check with validate_only decides nothing, a request id answers a repeat, and a stale etag is refused", async () => {
  const { ask, person, sees } = await openAccessScene(server);
  const [alice, owner] = [await person(), await person("/roles/owner")];
  const { path, etag } = await ask(alice);
  expect((await owner.requests.approveAccessRequest({ path, validateOnly: true })).state).toBe(APPROVED);
  expect(await sees(alice)).toBe(false);
  const approve = { path, requestId: randomUUID() };
  const approved = await owner.requests.approveAccessRequest(approve);
  expect(await owner.requests.approveAccessRequest(approve)).toEqual(approved);
  const late = failureOf(owner.requests.declineAccessRequest({ path }));
  expect(await late).toMatchObject({ reason: "STATE_FORBIDS", metadata: { state: "APPROVED" } });
  expect(await failureOf(owner.requests.endAccessRequest({ path, etag }))).toMatchObject({ reason: "ETAG_STALE" });
});

test("a request whose time is over is EXPIRED, and access whose time is over ENDED", async () => {
  const { created } = await createBeforeEnd(async (end) => {
    const { ask, person, sees, web, org } = await openAccessScene(server);
    const [alice, owner] = [await person(), await person("/roles/owner")];
    const [waits, granted] = [await ask(alice, web, "/roles/viewer", end), await ask(alice, web, "/roles/viewer", end)];
    await owner.requests.approveAccessRequest({ path: granted.path });
    return { sees, org, alice, owner, waits, granted };
  });
  const { sees, org, alice, owner, waits, granted } = created;
  const stateOf = async (path: string) => (await alice.requests.getAccessRequest({ path })).state;
  await expect.poll(() => stateOf(granted.path)).toBe(ENDED);
  await expect.poll(() => stateOf(waits.path)).toBe(EXPIRED);
  expect(await sees(alice)).toBe(false);
  const ended = await alice.requests.getAccessRequest({ path: granted.path });
  expect(ended.endTime).toEqual(granted.expireTime);
  expect(await failureOf(owner.requests.approveAccessRequest({ path: waits.path }))).toMatchObject({
    reason: "STATE_FORBIDS",
    metadata: { state: "EXPIRED" },
  });
  const { accessRequests } = await alice.requests.listAccessRequests({ parentPath: org, filter: "state = EXPIRED" });
  expect(accessRequests.map(({ path }) => path)).toEqual([waits.path]);
});

test("history stays when the role is gone", async () => {
  const { operator, ask, person, org, web } = await openAccessScene(server);
  const { roles } = operator.api;
  const [alice, owner] = [await person(), await person("/roles/owner")];
  const role = { name: "looker", permissions: ["iam.projects.get"] };
  const { path: rolePath, id } = await roles.createRole({ parentPath: org, role });
  const [granted, waits] = [await ask(alice, web, rolePath), await ask(alice, web, rolePath)];
  expect((await owner.requests.approveAccessRequest({ path: granted.path })).rolePath).toBe(rolePath);
  await roles.deleteRole({ path: rolePath });
  const after = await alice.requests.getAccessRequest({ path: granted.path });
  expect(after).toMatchObject({ state: ENDED, rolePath: `${org}/roles/@${id}` });
  expect(await failureOf(owner.requests.approveAccessRequest({ path: waits.path }))).toMatchObject({
    code: "NotFound",
  });
});
