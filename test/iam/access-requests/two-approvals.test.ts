// Requests for access in an org that wants two approvals.
import { beforeAll, describe, expect, test } from "vitest";
import { AccessRequest_State } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../../support/shared-server.ts";
import { openSqlClient } from "../../support/sql.ts";
import { type Person, openAccessScene } from "./access-scene.ts";

const { PENDING, APPROVED, DECLINED } = AccessRequest_State;

let server: SharedServer;
let second: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
  second = await secondSharedServer();
});

async function openWithTwo() {
  const scene = await openAccessScene(server);
  const { operator, org, person } = scene;
  const want = (who: Person, accessRequestApprovals: number) =>
    who.api.orgs.updateOrg({
      path: org,
      org: { accessRequestApprovals },
      updateMask: { paths: ["access_request_approvals"] },
    });
  await want(operator, 2);
  const [alice, one, other] = [await person(), await person("/roles/owner"), await person("/roles/owner")];
  const approve = (who: Person, path: string) => who.requests.approveAccessRequest({ path });
  return { ...scene, want, alice, one, other, approve };
}

type Scene = Awaited<ReturnType<typeof openWithTwo>>;

test("a request counts once two members have approved it, and says who", async () => {
  const { ask, sees, alice, one, other, operator, org } = await openWithTwo();
  const { path, requiredApprovals } = await ask(alice);
  expect(requiredApprovals).toBe(2);
  const first = await one.requests.approveAccessRequest({ path, message: "Fine with me" });
  const firstApproval = { deciderPath: one.path, approved: true, message: "Fine with me" };
  expect(first).toMatchObject({ state: PENDING, firstApproval, roleBindingPath: "", requiredApprovals: 2 });
  expect(first.decision).toBeUndefined();
  expect(await sees(alice)).toBe(false);
  const again = await failureOf(one.requests.approveAccessRequest({ path }));
  expect(again).toMatchObject({ reason: "STATE_FORBIDS", message: expect.stringContaining("another member") });
  expect(await failureOf(alice.requests.approveAccessRequest({ path }))).toMatchObject({ reason: "PERMISSION_DENIED" });
  const granted = await other.requests.approveAccessRequest({ path, message: "And me" });
  const decision = { deciderPath: other.path, approved: true, message: "And me" };
  expect(granted).toMatchObject({ state: APPROVED, firstApproval, decision, requiredApprovals: 0 });
  expect(await alice.requests.getAccessRequest({ path })).toEqual(granted);
  expect(await sees(alice)).toBe(true);
  // The log has each step.
  const filter = `resource_path = "${path}"`;
  const { changes } = await operator.api.changes.listChanges({ parentPath: org, filter });
  expect(changes.map(({ actorPath }) => actorPath)).toEqual([other.path, one.path, alice.path]);
});

test("one who declines ends it, also after an approval", async () => {
  const { ask, sees, alice, one, other, approve } = await openWithTwo();
  const { path } = await ask(alice);
  await approve(one, path);
  const declined = await other.requests.declineAccessRequest({ path, message: "No" });
  expect(declined).toMatchObject({ state: DECLINED, decision: { deciderPath: other.path, approved: false } });
  expect(await failureOf(approve(other, path))).toMatchObject({ reason: "STATE_FORBIDS" });
  expect(await sees(alice)).toBe(false);
});

const losses: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  "no longer holds the role": async ({ operator, org, one }) => {
    const [roleBinding] = (
      await operator.api.roleBindings.listRoleBindings({ parentPath: org, filter: `subject_path = "${one.path}"` })
    ).roleBindings;
    return operator.api.roleBindings.deleteRoleBinding({ path: roleBinding?.path ?? "" });
  },
  "is suspended": ({ operator, one }) => operator.api.members.suspendMember({ path: one.path }),
  "is deleted": ({ operator, one }) => operator.api.members.deleteMember({ path: one.path }),
};

describe.each(Object.entries(losses))("an approval of somebody who %s", (_what, lose) => {
  test("does not count: that of the next member is the first", async () => {
    const scene = await openWithTwo();
    const { ask, sees, alice, one, other, approve, person } = scene;
    const { path } = await ask(alice);
    await approve(one, path);
    await lose(scene);
    const next = await approve(other, path);
    expect(next).toMatchObject({ state: PENDING, firstApproval: { deciderPath: other.path } });
    expect(await sees(alice)).toBe(false);
    const third = await person("/roles/owner");
    expect(await approve(third, path)).toMatchObject({ state: APPROVED, firstApproval: { deciderPath: other.path } });
    expect(await sees(alice)).toBe(true);
  });
});

test("who cannot grant the role approves neither first nor second", async () => {
  const { ask, alice, one, person, approve } = await openWithTwo();
  const granter = await person("/roles/access-admin");
  const { path } = await ask(alice, undefined, "/roles/editor");
  expect(await failureOf(approve(granter, path))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
  await approve(one, path);
  expect(await failureOf(approve(granter, path))).toMatchObject({ reason: "GRANT_EXCEEDS_OWN" });
});

test("an owner changes how many approve, which holds for requests that wait; others do not", async () => {
  const { ask, sees, alice, one, want, person, operator, org, approve } = await openWithTwo();
  const admin = await person("/roles/admin");
  expect(await failureOf(want(admin, 1))).toMatchObject({ reason: "PERMISSION_DENIED" });
  const replaced = admin.api.orgs.updateOrg({
    path: org,
    org: { displayName: "Acme" },
    updateMask: { paths: ["display_name"] },
  });
  expect((await replaced).accessRequestApprovals).toBe(2);
  // A whole replacement that does not speak of it leaves it.
  const [name = ""] = org.split("/").slice(-1);
  const whole = one.api.orgs.updateOrg({ path: org, org: { name, displayName: "Acme" }, updateMask: { paths: ["*"] } });
  expect((await whole).accessRequestApprovals).toBe(2);
  expect((await failureOf(want(one, 3))).fields).toEqual(["org.access_request_approvals"]);
  const { path } = await ask(alice);
  await approve(one, path);
  await want(one, 1);
  expect((await operator.requests.getAccessRequest({ path })).requiredApprovals).toBe(1);
  // It has approved before, and now one approval is enough.
  expect((await approve(one, path)).state).toBe(APPROVED);
  expect(await sees(alice)).toBe(true);
});

/** Two approvals with identity providers of one issuer, in the org, another one of its customer and the installation. */
async function openWithIssuer() {
  const scene = await openWithTwo();
  const { customer, org, operator, person } = scene;
  const { api } = operator;
  // In another org, whose members hold roles by the customer.
  const elsewhere = await api.orgs.createOrg({ org: { name: uniqueName("elsewhere"), customerPath: customer } });
  const providerOf = async (parentPath: string, issuer = "https://login.example.com") => {
    const identityProvider = { name: uniqueName("issuer"), issuer, clientId: "tenantry" };
    return (await api.identityProviders.createIdentityProvider({ parentPath, identityProvider })).path;
  };
  /** Makes one person of two members. */
  const join = async (persons: readonly (readonly [Person, string])[]) => {
    const subject = uniqueName("person");
    for (const [{ path: parentPath }, identityProviderPath] of persons) {
      const identity = { name: subject, identityProviderPath, subject };
      await api.identities.createIdentity({ parentPath, identity });
    }
    // As at a sign-in.
    const sql = await openSqlClient(server.databaseUrl);
    await sql.query("update identities set accept_time = now() where subject = $1", [subject]);
    await sql.close();
  };
  return {
    ...scene,
    join,
    twin: () => person("/roles/owner", customer, elsewhere.path),
    ofPlatform: await providerOf("/orgs/system"),
    ofOrg: await providerOf(org),
    ofOrgToo: await providerOf(org),
    // Each org has the same issuer as a provider of its own.
    ofOther: await providerOf(elsewhere.path),
    withSlash: await providerOf(elsewhere.path, "https://login.example.com/"),
  };
}

const denied = { reason: "PERMISSION_DENIED", message: expect.stringContaining("both members have one identity") };

test("a person that has two members approves once, and not what it asks for", async () => {
  const { ask, alice, one, approve, join, twin, ofPlatform, ofOrg, ofOther, withSlash } = await openWithIssuer();
  const [ofAlice, ofOne, again, another, stranger] = [
    await twin(),
    await twin(),
    await twin(),
    await twin(),
    await twin(),
  ];
  await join([
    [alice, ofPlatform],
    [ofAlice, ofPlatform],
  ]);
  await join([
    [one, ofOrg],
    [ofOne, ofOther],
    [again, withSlash],
  ]);
  const { path } = await ask(alice);
  const ofAsking = await failureOf(approve(ofAlice, path));
  expect(ofAsking).toMatchObject(denied);
  expect(ofAsking.message).toContain(`asks for the access itself with ${path}, as ${alice.path}:`);
  await approve(one, path);
  for (const who of [ofOne, again]) {
    const refused = await failureOf(approve(who, path));
    expect(refused).toMatchObject(denied);
    expect(refused.message).toContain(`has already approved ${path}, as ${one.path}:`);
  }
  expect((await approve(stranger, path)).state).toBe(APPROVED);

  // Who approved before it was known that it is the one who asks, has not approved.
  const { path: later } = await ask(alice);
  await approve(another, later);
  await join([
    [alice, ofOrg],
    [another, ofOther],
  ]);
  expect(await approve(one, later)).toMatchObject({ state: PENDING, firstApproval: { deciderPath: one.path } });
  expect((await approve(stranger, later)).state).toBe(APPROVED);
});

test("a person that has two members in the org approves once, by two providers of the org or one of the installation", async () => {
  const { ask, alice, one, other, person, approve, join, ofPlatform, ofOrg, ofOrgToo } = await openWithIssuer();
  const [byPlatform, byOrg, ofAlice] = [
    await person("/roles/owner"),
    await person("/roles/owner"),
    await person("/roles/owner"),
  ];
  await join([
    [one, ofOrg],
    [byOrg, ofOrgToo],
    [byPlatform, ofPlatform],
  ]);
  await join([
    [alice, ofPlatform],
    [ofAlice, ofOrgToo],
  ]);
  const { path } = await ask(alice);
  expect(await failureOf(approve(ofAlice, path))).toMatchObject(denied);
  await approve(one, path);
  for (const who of [byOrg, byPlatform]) expect(await failureOf(approve(who, path))).toMatchObject(denied);
  expect((await approve(other, path)).state).toBe(APPROVED);
});

test("of approvals on two servers at once, one is the first, and the other decides", async () => {
  const { ask, at, alice, one, other, approve, operator } = await openWithTwo();
  for (let round = 0; round < 3; round++) {
    const { path } = await ask(alice);
    const answers = await Promise.all([approve(one, path), approve(at(other, second), path)]);
    expect(new Set(answers.map(({ state }) => state))).toEqual(new Set([PENDING, APPROVED]));
    const { firstApproval, decision } = await operator.requests.getAccessRequest({ path });
    expect(new Set([firstApproval?.deciderPath, decision?.deciderPath])).toEqual(new Set([one.path, other.path]));
  }
});
