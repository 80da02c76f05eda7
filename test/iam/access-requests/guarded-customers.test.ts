// An org requires that members of the platform are approved: what these try in the rest of its customer, with an approval, and from where the platform
// sees all orgs.
import { createClient } from "@connectrpc/connect";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { QueryUsageRequest_Dimension, UsageService } from "../../../gen/iam/v1alpha/usage_pb.ts";
import { ProviderService } from "../../../gen/resources/v1alpha/provider_pb.ts";
import { ResourcesService } from "../../../gen/resources/v1alpha/resource_pb.ts";
import { AccessRequest_State } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { uniqueName } from "../../support/api.ts";
import { failureOf } from "../../support/failure.ts";
import { createProvidedType } from "../../support/provided-type.ts";
import type { TestServer } from "../../support/test-server.ts";
import { watchLog } from "../../support/watch-log.ts";
import type { Person } from "./access-scene.ts";
import { openSupportScene, startServers } from "./support-scene.ts";

const denied = { reason: "PERMISSION_DENIED" };

let server: TestServer;
let second: TestServer;
beforeAll(async () => {
  [server, second] = await startServers({ purgeIntervalMs: 200 });
});
afterAll(async () => {
  await second.close();
  await server.close();
});

const reads = (who: Person, parentPath: string): Promise<boolean> =>
  who.api.members.listMembers({ parentPath }).then(
    () => true,
    () => false,
  );

/** Opens a scene with a second org of the same customer, which requires nothing, and a member of it that owns the customer. */
async function openSiblings(isRequired = true) {
  const scene = await openSupportScene(server, false);
  const { operator, customer, guard } = scene;
  const { path: sibling } = await operator.api.orgs.createOrg({
    org: { name: uniqueName("sibling"), customerPath: customer },
  });
  const member = await operator.api.members.createMember({ parentPath: sibling, member: { name: "chief" } });
  const roleBinding = { name: uniqueName("chief"), rolePath: "/roles/owner", subjectPath: member.path };
  await operator.api.roleBindings.createRoleBinding({ parentPath: customer, roleBinding });
  const { secret = "" } = await operator.api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "key" } });
  const chief = scene.withKey(member.path, secret);
  // Who owns the customer sees what is on it, and sets the requirement in an org.
  if (isRequired) await guard(chief, true);
  return { ...scene, sibling, chief };
}

describe("the other orgs of the customer", () => {
  test("are closed to the platform as well, so that nobody comes through them", async () => {
    const { org, sibling, customer, chief, staff, operator, guard } = await openSiblings();
    const bob = await staff();
    const [name, subjectPath] = [uniqueName("mine"), chief.path];
    const roleBinding = { name, subjectPath, rolePath: "/roles/owner" };
    for (const { api } of [operator, bob]) {
      const calls: Record<string, () => Promise<unknown>> = {
        member: () => api.members.createMember({ parentPath: sibling, member: { name } }),
        key: () => api.apiKeys.createApiKey({ parentPath: chief.path, apiKey: { name } }),
        grant: () => api.roleBindings.createRoleBinding({ parentPath: sibling, roleBinding }),
        "grant on the customer": () => api.roleBindings.createRoleBinding({ parentPath: customer, roleBinding }),
        provider: () => api.identityProviders.listIdentityProviders({ parentPath: sibling }),
        webhook: () =>
          api.webhooks.createWebhook({ parentPath: customer, webhook: { name, url: "https://a.example" } }),
        rename: () => api.customers.updateCustomer({ path: customer, customer: { description: "Mine" } }),
      };
      for (const [what, call] of Object.entries(calls)) expect(await failureOf(call()), what).toMatchObject(denied);
    }
    // A new org of the customer is closed from its beginning.
    const { path: made } = await operator.api.orgs.createOrg({
      org: { name: uniqueName("new"), customerPath: customer },
    });
    expect(await failureOf(operator.api.members.createMember({ parentPath: made, member: { name } }))).toMatchObject(
      denied,
    );
    // The customer's own people are not concerned.
    expect([await reads(chief, org), await reads(chief, sibling), await reads(chief, made)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(await guard(chief, false)).toMatchObject({ supportAccessRequired: false });
    expect([await reads(bob, org), await reads(bob, sibling)]).toEqual([true, true]);
  });

  test("approve for themselves, by their own people", async () => {
    const { org, sibling, chief, staff, askFor, approve, at } = await openSiblings();
    const bob = await staff();
    await approve(await askFor(bob));
    expect([await reads(bob, org), await reads(bob, sibling)]).toEqual([true, false]);
    const asked = await bob.requests.createAccessRequest({
      parentPath: sibling,
      accessRequest: { ...(await askFor(bob)), resourcePath: sibling },
    });
    await chief.requests.approveAccessRequest({ path: asked.path });
    expect([await reads(bob, sibling), await reads(at(bob, second), sibling)]).toEqual([true, true]);
  });
});

describe("the requirement", () => {
  test("holds in the rest of the customer when the platform purges the org that has it, and in its log when it purges the customer", async () => {
    const { org, orgId, sibling, customer, chief, operator, staff } = await openSiblings();
    const bob = await staff();
    const { api } = operator;
    await api.orgs.deleteOrg({ path: org });
    await api.orgs.purgeOrg({ path: `/orgs/@${orgId}` });
    await expect
      .poll(() => failureOf(api.orgs.getOrg({ path: `/orgs/@${orgId}` })))
      .toMatchObject({
        reason: "RESOURCE_NOT_FOUND",
      });
    expect([await reads(bob, sibling), await reads(operator, sibling), await reads(chief, sibling)]).toEqual([
      false,
      false,
      true,
    ]);
    // An owner that wants it no more lets it go.
    const set = (supportAccessRequired: boolean) =>
      chief.api.orgs.updateOrg({
        path: sibling,
        org: { supportAccessRequired },
        updateMask: { paths: ["support_access_required"] },
      });
    await set(true);
    expect(await reads(bob, sibling)).toBe(false);
    await set(false);
    expect(await reads(bob, sibling)).toBe(true);
    await set(true);
    const { id } = await api.customers.getCustomer({ path: customer });
    await api.customers.deleteCustomer({ path: customer });
    await api.customers.purgeCustomer({ path: `/customers/@${id}` });
    await expect
      .poll(() => failureOf(api.customers.getCustomer({ path: `/customers/@${id}` })))
      .toMatchObject({
        reason: "RESOURCE_NOT_FOUND",
      });
    const { changes } = await api.changes.listChanges({ pageSize: 1000 });
    expect(changes.filter(({ resourcePath }) => resourcePath === chief.path)).toEqual([]);
  });

  test("is set by an owner of any org, and unset by its owners, one org after the other", async () => {
    const { org, sibling, owner, guard, chief, operator } = await openSiblings(false);
    const inSibling = (supportAccessRequired: boolean) =>
      chief.api.orgs.updateOrg({
        path: sibling,
        org: { supportAccessRequired },
        updateMask: { paths: ["support_access_required"] },
      });
    expect(await guard(owner, true)).toMatchObject({ supportAccessRequired: true });
    await inSibling(true);
    await guard(owner, false);
    expect([await reads(operator, org), await reads(operator, sibling)]).toEqual([false, false]);
    await inSibling(false);
    expect([await reads(operator, org), await reads(operator, sibling)]).toEqual([true, true]);
  });

  test("of an org that was purged is not let go by who owns another one alone", async () => {
    const { org, orgId, sibling, operator, owner, guard, chief, withKey } = await openSiblings(false);
    await guard(owner, true);
    const { api } = operator;
    await api.orgs.deleteOrg({ path: org });
    await api.orgs.purgeOrg({ path: `/orgs/@${orgId}` });
    await expect
      .poll(() => failureOf(api.orgs.getOrg({ path: `/orgs/@${orgId}` })))
      .toMatchObject({ reason: "RESOURCE_NOT_FOUND" });
    const member = await chief.api.members.createMember({ parentPath: sibling, member: { name: "sam" } });
    const roleBinding = { name: "sam", rolePath: "/roles/owner", subjectPath: member.path };
    await chief.api.roleBindings.createRoleBinding({ parentPath: sibling, roleBinding });
    const { secret = "" } = await chief.api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "key" } });
    const sam = withKey(member.path, secret);
    for (const supportAccessRequired of [true, false]) {
      await sam.api.orgs.updateOrg({
        path: sibling,
        org: { supportAccessRequired },
        updateMask: { paths: ["support_access_required"] },
      });
    }
    expect(await reads(operator, sibling)).toBe(false);
  });

  test("that an org adds to that of another one, and takes back, ends its approvals", async () => {
    const { sibling, chief, staff, askFor } = await openSiblings();
    const bob = await staff();
    const { path } = await bob.requests.createAccessRequest({
      parentPath: sibling,
      accessRequest: { ...(await askFor(bob)), resourcePath: sibling },
    });
    await chief.requests.approveAccessRequest({ path });
    for (const supportAccessRequired of [true, false]) {
      expect(await reads(bob, sibling)).toBe(supportAccessRequired);
      await chief.api.orgs.updateOrg({
        path: sibling,
        org: { supportAccessRequired },
        updateMask: { paths: ["support_access_required"] },
      });
      expect(await reads(bob, sibling)).toBe(false);
    }
  });
});

describe("an approval", () => {
  test("of the role owner makes and changes nothing that stays", async () => {
    const { org, web, staff, askFor, approve, owner, person, operator } = await openSupportScene(server);
    const bob = await staff();
    const alice = await person("/roles/viewer");
    const group = await owner.api.groups.createGroup({ parentPath: org, group: { name: "team" } });
    await approve(await askFor(bob, "/roles/owner"));
    expect(await reads(bob, org)).toBe(true);
    const name = uniqueName("mine");
    const { api } = bob;
    const calls: Record<string, () => Promise<unknown>> = {
      member: () => api.members.createMember({ parentPath: org, member: { name } }),
      "update a member": () => api.members.updateMember({ path: alice.path, member: { displayName: "A" } }),
      suspend: () => api.members.suspendMember({ path: alice.path }),
      key: () => api.apiKeys.createApiKey({ parentPath: alice.path, apiKey: { name } }),
      grant: () =>
        api.roleBindings.createRoleBinding({
          parentPath: web,
          roleBinding: { name, subjectPath: alice.path, rolePath: "/roles/viewer" },
        }),
      role: () => api.roles.createRole({ parentPath: org, role: { name, permissions: ["iam.projects.get"] } }),
      group: () => api.groups.createGroup({ parentPath: org, group: { name } }),
      join: () =>
        api.groupMembers.createGroupMember({ parentPath: group.path, groupMember: { memberPath: alice.path } }),
      client: () => api.clients.createClient({ parentPath: org, client: { name } }),
      provider: () => api.identityProviders.createIdentityProvider({ parentPath: org, identityProvider: { name } }),
      webhook: () => api.webhooks.createWebhook({ parentPath: org, webhook: { name, url: "https://a.example" } }),
      stream: () => api.eventStreams.createEventStream({ parentPath: org, eventStream: { name } }),
      relabel: () => api.projects.updateProject({ path: web, project: { labels: { a: "b" } } }),
      update: () => api.orgs.updateOrg({ path: org, org: { description: "Mine" } }),
      contact: () => api.contacts.createContact({ parentPath: org, contact: {} }),
    };
    for (const [what, call] of Object.entries(calls)) expect(await failureOf(call()), what).toMatchObject(denied);
    // Nor does it help somebody else of the platform.
    expect(await reads(operator, org)).toBe(false);
  });

  test("does not come back when the requirement is set again", async () => {
    const { org, staff, askFor, approve, guard, owner, at } = await openSupportScene(server);
    const bob = await staff();
    const asked = await askFor(bob);
    await approve(asked);
    expect(await reads(bob, org)).toBe(true);
    await guard(owner, false);
    await guard(owner, true);
    expect([await reads(bob, org), await reads(at(bob, second), org)]).toEqual([false, false]);
    expect(await owner.requests.getAccessRequest({ path: asked.path })).toMatchObject({
      state: AccessRequest_State.ENDED,
    });
    await approve(await askFor(bob));
    expect(await reads(bob, org)).toBe(true);
  });
});

test("what is found nowhere by its name is read nowhere, also if the name is given meanwhile", async () => {
  const { org, operator, customer } = await openSupportScene(server);
  const { api } = operator;
  const { id } = await api.customers.getCustomer({ path: customer });
  const over = new AbortController();
  const read: (string | undefined)[] = [];
  const reading = Array.from({ length: 6 }, async () => {
    while (!over.signal.aborted) {
      const answer = api.members.listMembers({ parentPath: org }).then(() => "read");
      read.push(await answer.catch(async () => (await failureOf(answer)).reason));
    }
  });
  for (let cycle = 0; cycle < 4; cycle++) {
    await api.customers.deleteCustomer({ path: `/customers/@${id}` });
    await api.customers.undeleteCustomer({ path: `/customers/@${id}` });
  }
  over.abort();
  await Promise.all(reading);
  expect(read).not.toContain("read");
});

describe("from where the platform sees all orgs", () => {
  test("its log leaves out the customer with all its orgs, and grants on it", async () => {
    const { customer, owner, operator, chief } = await openSiblings();
    const other = await openSupportScene(server, false);
    const name = uniqueName("grant");
    await chief.api.roleBindings.createRoleBinding({
      parentPath: customer,
      roleBinding: { name, subjectPath: owner.path, rolePath: "/roles/viewer" },
    });
    const { changes } = await operator.api.changes.listChanges({ pageSize: 1000 });
    const paths = changes.map(({ resourcePath }) => resourcePath);
    expect(paths).toContain(other.owner.path);
    expect(paths.filter((path) => path.startsWith(customer))).toEqual([]);
    expect(paths).not.toContain(chief.path);
  });

  test("a grant on the platform makes nobody a provider there, and one on the service does", async () => {
    const { org, web, owner, operator, staff } = await openSupportScene(server);
    const { servicePath, typePath } = await createProvidedType(operator.api);
    const resources = createClient(ResourcesService, owner.api.transport);
    const created = await resources.createResource({ parentPath: web, resource: { name: "secret", typePath } });
    const providerOf = ({ api }: Person) => createClient(ProviderService, api.transport);
    expect((await providerOf(operator).claimOperations({ servicePath })).claims).toEqual([]);
    const used = await failureOf(operator.api.resourceTypes.deleteResourceType({ path: typePath }));
    const withOperations = (...verbs: readonly string[]) =>
      operator.api.resourceTypes.updateResourceType({
        path: typePath,
        resourceType: { operations: verbs.map((verb) => ({ verb })) },
        updateMask: { paths: ["operations"] },
      });
    await withOperations("create", "delete", "suspend", "resume");
    const kept = await failureOf(withOperations("create", "delete"));
    for (const failure of [used, kept]) {
      expect(failure).toMatchObject({ reason: "RESOURCE_IN_USE" });
      expect(JSON.stringify(failure)).not.toContain(web);
    }
    const resourcePath = `${web}/resources/secret`;
    const report = { servicePath, resourcePath, stateReason: "Mine" };
    expect(await failureOf(providerOf(operator).reportResource(report))).toMatchObject({
      reason: "RESOURCE_NOT_FOUND",
    });
    const provider = await staff("");
    const roleBinding = { name: uniqueName("provider"), subjectPath: provider.path, rolePath: "/roles/provider" };
    await operator.api.roleBindings.createRoleBinding({ parentPath: servicePath, roleBinding });
    const { claims } = await providerOf(provider).claimOperations({ servicePath });
    expect(claims.map(({ operation }) => operation?.path)).toEqual([created.path]);
    const presented = { servicePath, operationPath: created.path, claimToken: required(claims[0]).claimToken };
    await providerOf(provider).completeOperation(presented);
    expect(await failureOf(operator.api.projects.getProject({ path: `${org}/projects/web` }))).toMatchObject(denied);
  });

  test("who has claimed an operation before ends it", async () => {
    const { web, owner, operator, guard } = await openSupportScene(server, false);
    const { servicePath, typePath } = await createProvidedType(operator.api);
    const resources = createClient(ResourcesService, owner.api.transport);
    await resources.createResource({ parentPath: web, resource: { name: "begun", typePath } });
    const provider = createClient(ProviderService, operator.api.transport);
    const { claims } = await provider.claimOperations({ servicePath });
    const { operation, claimToken } = required(claims[0]);
    await guard(owner, true);
    await provider.completeOperation({ servicePath, operationPath: operation?.path ?? "", claimToken });
    expect((await provider.claimOperations({ servicePath })).claims).toEqual([]);
  });

  test("usage is what is to be paid, without names of projects", async () => {
    const { org, web, customer, operator, owner } = await openSupportScene(server);
    const usageOf = ({ api }: Person) => createClient(UsageService, api.transport);
    const { PROJECT, RESOURCE_TYPE } = QueryUsageRequest_Dimension;
    for (const parentPath of [org, customer]) {
      expect((await usageOf(operator).queryUsage({ parentPath, groupBy: [RESOURCE_TYPE] })).parentPath).toBe(
        parentPath,
      );
      expect(await failureOf(usageOf(operator).queryUsage({ parentPath, groupBy: [PROJECT] }))).toMatchObject(denied);
    }
    expect(await failureOf(usageOf(operator).queryUsage({ parentPath: web }))).toMatchObject(denied);
    expect((await usageOf(owner).queryUsage({ parentPath: org, groupBy: [PROJECT] })).parentPath).toBe(org);
  });

  test("a stream of changes that is open ends when the requirement is set, and when an approval ends", async () => {
    const { org, staff, guard, owner, askFor, approve } = await openSupportScene(server, false);
    const bob = await staff();
    const secret = async (name: string) => owner.api.groups.createGroup({ parentPath: org, group: { name } });
    const hears = (watch: ReturnType<typeof watchLog>, name: string): boolean =>
      watch.changes().some(({ resourcePath }) => resourcePath.endsWith(`/${name}`));
    // That the org approves nothing is read with the caller from its third call on.
    const open = await owner.api.groups.createGroup({ parentPath: org, group: { name: "first" } });
    for (let time = 0; time < 2; time++) await bob.api.groups.getGroup({ path: open.path });
    const before = watchLog(bob.api, { parentPath: org });
    await before.until(() => true);
    await secret("open");
    await before.until(() => hears(before, "open"));
    await guard(owner, true);
    await secret("hidden");
    expect(await failureOf(before.ended)).toMatchObject(denied);
    expect(hears(before, "hidden")).toBe(false);
    const asked = await askFor(bob);
    await approve(asked);
    const approved = watchLog(bob.api, { parentPath: org });
    await approved.until(() => true);
    await secret("approved");
    await approved.until(() => hears(approved, "approved"));
    await owner.requests.endAccessRequest({ path: asked.path });
    await secret("ended");
    expect(await failureOf(approved.ended)).toMatchObject(denied);
    expect(hears(approved, "ended")).toBe(false);
  });

  test("a write that has waited is decided again under its lock", async () => {
    const { org, staff, guard, owner } = await openSupportScene(server, false);
    const bob = await staff();
    const writes = Array.from({ length: 8 }, () =>
      failureOf(bob.api.members.createMember({ parentPath: org, member: { name: uniqueName("racing") } })).catch(
        () => "made",
      ),
    );
    await guard(owner, true);
    await Promise.all(writes);
    const { members } = await owner.api.members.listMembers({ parentPath: org });
    expect(await failureOf(bob.api.members.createMember({ parentPath: org, member: { name: "late" } }))).toMatchObject(
      denied,
    );
    expect((await owner.api.members.listMembers({ parentPath: org })).members).toHaveLength(members.length);
  });

  test("a write that waits for its org sees what another org of the customer requires meanwhile", async () => {
    const { org, sibling, staff, guard, chief } = await openSiblings(false);
    const bob = await staff();
    const { api } = bob;
    const create = (name: string) => api.members.createMember({ parentPath: sibling, member: { name } });
    // From then on, whether the customer requires an approval is read with the key of each call.
    const { path: subjectPath } = await create("first");
    await create("second");
    const writes = {
      "of a group": () => create("late"),
      alone: () =>
        api.roleBindings.createRoleBinding({
          parentPath: sibling,
          roleBinding: { name: "late", subjectPath, rolePath: "/roles/viewer" },
        }),
    };
    const client = new pg.Client({ connectionString: server.databaseUrl });
    await client.connect();
    onTestFinished(() => client.end());
    for (const [what, write] of Object.entries(writes)) {
      await client.query("begin");
      await client.query("select from orgs where name = $1 for no key update", [sibling.slice("/orgs/".length)]);
      const failure = failureOf(write());
      await expect
        .poll(async () => (await client.query("select from pg_locks where not granted")).rowCount, { timeout: 10_000 })
        .toBeGreaterThan(0);
      await guard(chief, true);
      await client.query("commit");
      expect(await failure, what).toMatchObject(denied);
      await guard(chief, false);
    }
    expect(await reads(bob, org)).toBe(true);
    await create("again");
  });
});
