import { createClient } from "@connectrpc/connect";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CustomersService } from "../../gen/iam/v1alpha/customer_pb.ts";
import { MembersService, Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { RoleBindingsService } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "../../gen/iam/v1alpha/role_pb.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { numbersOf } from "../support/revisions.ts";
import { createTransport } from "../support/transports.ts";
import { importInto, total } from "./support/import-into.ts";
import { readOrg } from "./support/read-org.ts";
import { temporaryFile } from "./support/temporary-file.ts";

const acme = join(import.meta.dirname, "../../examples/acme.yaml");

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const connect = () => createTransport("Connect", server.url, server.operatorKey);

describe("examples/acme.yaml", () => {
  test("becomes an organisation", async () => {
    const outcome = await importInto(server, acme);
    expect(outcome.end).toBeUndefined();
    expect(total(outcome)).toEqual({ created: 39, existing: 0, missing: 0 });
    expect(await readOrg(server.databaseUrl, "acme")).toMatchObject({
      members: ["alice", "bob", "carol", "dave", "deployer", "erin", "wile", "zoe"],
      groups: ["engineering", "finance", "on-call", "platform", "shop"],
      projects: ["anvils", "rockets", "web-shop"],
      subgroups: ["engineering/platform", "engineering/shop", "platform/on-call"],
      memberships: [
        "engineering/wile",
        "finance/erin",
        "on-call/bob",
        "on-call/deployer",
        "platform/alice",
        "platform/bob",
        "shop/carol",
        "shop/dave",
        "shop/zoe",
      ],
      roles: [
        "admin: repos.access.read repos.access.triage repos.access.write repos.access.maintain repos.access.admin",
        "maintain: repos.access.read repos.access.triage repos.access.write repos.access.maintain",
        "read: repos.access.read",
        "write: repos.access.read repos.access.triage repos.access.write",
      ],
      roleBindings: [
        "/wile/admin",
        "/wile/owner",
        "anvils/engineering/read",
        "anvils/platform/maintain",
        "rockets/platform/admin",
        "web-shop/shop/write",
      ],
    });
    const members = createClient(MembersService, connect());
    expect(await members.getMember({ path: "orgs/acme/members/deployer" })).toMatchObject({
      type: Member_Type.APPLICATION,
      description: "Rolls out what the pipeline has built.",
    });
    expect(await members.getMember({ path: "orgs/acme/members/zoe" })).toMatchObject({ displayName: "Zoe" });
    expect(await members.getMember({ path: "orgs/acme/members/bob" })).toMatchObject({ displayName: "bob" });
  });

  test("takes one batch for what is in all groups, and one for all projects", async () => {
    await importInto(server, acme, { org: "batched" });
    // The org, its members, groups, projects, subgroups, memberships and roles, and the bindings on the org and on projects.
    const { revision, changes } = await readOrg(server.databaseUrl, "batched");
    expect([numbersOf([{ revision }]), changes]).toEqual([[9], 39]);
  });

  test("changes nothing the second time", async () => {
    await importInto(server, acme, { org: "twice" });
    const etagsOf = async () => {
      const { members } = await createClient(MembersService, connect()).listMembers({ parentPath: "orgs/twice" });
      const org = await createClient(OrgsService, connect()).getOrg({ path: "orgs/twice" });
      return [org, ...members].map(({ path, etag }) => [path, etag]);
    };
    const before = [await readOrg(server.databaseUrl, "twice"), await etagsOf()];
    expect(total(await importInto(server, acme, { org: "twice" }))).toEqual({ created: 0, existing: 39, missing: 0 });
    expect([await readOrg(server.databaseUrl, "twice"), await etagsOf()]).toEqual(before);
  });

  test("keeps changed and added resources", async () => {
    await importInto(server, acme, { org: "lived-in" });
    const members = createClient(MembersService, connect());
    const path = "orgs/lived-in/members/carol";
    await members.updateMember({ path, member: { displayName: "CD" }, updateMask: { paths: ["display_name"] } });
    await members.createMember({ parentPath: "orgs/lived-in", member: { name: "newcomer" } });
    await members.deleteMember({ path: "orgs/lived-in/members/deployer" });
    const bindings = createClient(RoleBindingsService, connect());
    const roles = createClient(RolesService, connect());
    const role = { permissions: ["repos.access.read"] };
    await roles.updateRole({ path: "orgs/lived-in/roles/write", role, updateMask: { paths: ["permissions"] } });
    await bindings.deleteRoleBinding({ path: "orgs/lived-in/projects/web-shop/roleBindings/shop-write" });
    // The deleted member, its membership and the deleted role binding are created again.
    expect(total(await importInto(server, acme, { org: "lived-in" }))).toMatchObject({ created: 3 });
    expect(await members.getMember({ path })).toMatchObject({ displayName: "CD" });
    const stored = await readOrg(server.databaseUrl, "lived-in");
    expect(stored.members).toContain("newcomer");
    expect(stored.roles).toContain("write: repos.access.read");
    expect(stored.roleBindings).toContain("web-shop/shop/write");
  });

  test("is complete after imports that were stopped halfway", async () => {
    await importInto(server, acme, { org: "straight" });
    const { revision: _revision, changes, ...straight } = await readOrg(server.databaseUrl, "straight");
    const org = "stopped";
    let created = 0;
    for (let runs = 0; created < 39 && runs < 60; runs++) {
      const stopAfter = 1 + Math.floor(Math.random() * 8);
      const outcome = await importInto(server, acme, { org, stopAfter, concurrency: 3 });
      const sums = total(outcome);
      expect(sums.existing).toBe(created);
      expect(sums.created + sums.existing + sums.missing).toBe(39);
      created += sums.created;
    }
    // The number of changes is equal, too, so nothing was created twice.
    expect(await readOrg(server.databaseUrl, org)).toMatchObject({ ...straight, changes });
  });

  test("is complete after two concurrent imports", async () => {
    const outcomes = await Promise.all([
      importInto(server, acme, { org: "both" }),
      importInto(server, acme, { org: "both", concurrency: 2 }),
    ]);
    const [one, other] = outcomes.map(total);
    expect([one?.missing, other?.missing]).toEqual([0, 0]);
    expect((one?.created ?? 0) + (other?.created ?? 0)).toBe(39);
    expect((await readOrg(server.databaseUrl, "both")).changes).toBe(39);
  });
});

test("reads existing resources in more than one page", async () => {
  const members = Array.from({ length: 1_005 }, (_, index) => `m${index}`);
  const file = await temporaryFile("crowd.json", JSON.stringify({ org: "crowd", members }));
  await createClient(OrgsService, connect()).createOrg({ org: { name: "crowd" } });
  for (const batch of [members.slice(0, 1_000), members.slice(1_000, 1_004)]) {
    const requests = batch.map((name) => ({ member: { name } }));
    await createClient(MembersService, connect()).batchCreateMembers({ parentPath: "orgs/crowd", requests });
  }
  expect(total(await importInto(server, file))).toEqual({ created: 1, existing: 1_005, missing: 0 });
});

test("ends at the first rejected creation, and names it", async () => {
  await importInto(server, acme, { org: "upside-down" });
  // In the org, platform is nested in engineering; in this file it is the other way round.
  const groups = [{ name: "platform" }, { name: "engineering", parent: "platform" }];
  const file = await temporaryFile("other.json", JSON.stringify({ org: "upside-down", groups }));
  const { end } = await importInto(server, file);
  expect(end).toMatchObject({
    reason: "failed",
    path: "/orgs/upside-down/groups/platform/subgroups/engineering",
    error: { rawMessage: expect.stringContaining("cannot be nested") as unknown },
  });
});

test("does not mistake the role binding of a deleted member for that of the new member of the same name", async () => {
  const org = "come-back";
  const file = await temporaryFile("org.json", JSON.stringify({ org, admins: ["root"], members: ["second"] }));
  await importInto(server, file);
  const bindings = createClient(RoleBindingsService, connect());
  const path = `orgs/${org}/roleBindings/root-owner`;
  // An org must keep an owner.
  const second = { name: "another", rolePath: "/roles/owner", subjectPath: `orgs/${org}/members/second` };
  await bindings.createRoleBinding({ parentPath: `orgs/${org}`, roleBinding: second });
  await createClient(MembersService, connect()).deleteMember({ path: `orgs/${org}/members/root` });
  await expect(importInto(server, file)).rejects.toThrow(`role binding /${path}: is there already`);
  await bindings.deleteRoleBinding({ path });
  expect((await importInto(server, file)).end).toBeUndefined();
  expect(await bindings.getRoleBinding({ path })).toMatchObject({ subjectPath: `/orgs/${org}/members/root` });
});

test("does not mistake a customer for the org of the same name", async () => {
  const orgs = createClient(OrgsService, connect());
  await orgs.createOrg({ org: { name: "taken" } });
  await orgs.createOrg({ org: { name: "second", customerPath: "/customers/taken" } });
  await orgs.deleteOrg({ path: "orgs/taken" });
  expect(await createClient(CustomersService, connect()).getCustomer({ path: "customers/taken" })).toBeDefined();
  const { end } = await importInto(server, await temporaryFile("taken.json", '{"org": "taken"}'));
  expect(end).toMatchObject({ reason: "failed", path: "/orgs/taken" });
});
