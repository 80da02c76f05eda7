// Tests orgs and their customers over every protocol.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { protocols, overFirst } from "../support/transports.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

describe.each(overFirst(protocols))("over %s", (protocol) => {
  let api: Api;
  beforeEach(() => {
    api = createApi(protocol, server.url, server.operatorKey);
  });

  const createPair = async () => {
    const first = await api.orgs.createOrg({ org: { name: uniqueName("acme"), displayName: "Acme Ltd" } });
    const second = await api.orgs.createOrg({
      org: { name: uniqueName("acme-labs"), customerPath: first.customerPath },
    });
    return { first, second };
  };

  test("an org without a customer gets one with its own name", async () => {
    const org = await api.orgs.createOrg({ org: { name: uniqueName("acme"), displayName: "Acme Ltd" } });
    expect(org.customerPath).toBe(`/customers/${org.name}`);
    const customer = await api.customers.getCustomer({ path: org.customerPath });
    expect(customer).toMatchObject({ name: org.name, displayName: "Acme Ltd" });
  });

  test("a customer can have several orgs, and its new name shows in all of them", async () => {
    const { first, second } = await createPair();
    expect(second.customerPath).toBe(first.customerPath);
    const name = uniqueName("holding");
    const renamed = await api.customers.updateCustomer({ path: first.customerPath, customer: { name } });
    expect(renamed.path).toBe(`/customers/${name}`);
    expect((await api.orgs.getOrg({ path: second.path })).customerPath).toBe(renamed.path);
  });

  test("if the name of the customer is taken, the error says how to create the org there", async () => {
    const { first } = await createPair();
    await api.orgs.updateOrg({ path: first.path, org: { name: uniqueName("moved") } });
    const failure = await failureOf(api.orgs.createOrg({ org: { name: first.name } }));
    expect(failure).toMatchObject({
      code: "AlreadyExists",
      message: expect.stringContaining(`/customers/${first.name}`),
    });
    await api.orgs.createOrg({ org: { name: first.name, customerPath: first.customerPath } });
  });

  test("the last org of a customer cannot be deleted; deleting the customer deletes both", async () => {
    const { first, second } = await createPair();
    await api.orgs.deleteOrg({ path: first.path });
    const failure = await failureOf(api.orgs.deleteOrg({ path: second.path }));
    expect(failure).toMatchObject({ code: "FailedPrecondition", reason: "LAST_ORG" });
    const customer = await api.customers.deleteCustomer({ path: second.customerPath });
    expect(customer.deleteTime).toBeDefined();
    expect(await failureOf(api.orgs.getOrg({ path: second.path }))).toMatchObject({ code: "NotFound" });
    const deleted = await api.orgs.getOrg({ path: `orgs/@${second.id}` });
    expect(deleted).toMatchObject({ path: `/orgs/@${second.id}`, customerPath: `/customers/@${customer.id}` });
  });

  test("a deleted org and its contents can be read by id, and not changed", async () => {
    const { first } = await createPair();
    await api.members.createMember({ parentPath: first.path, member: { name: "alice" } });
    await api.orgs.deleteOrg({ path: first.path });
    const org = `/orgs/@${first.id}`;
    const alice = await api.members.getMember({ path: `${org}/members/alice` });
    expect(alice.path).toBe(`${org}/members/alice`);
    const change = api.members.createMember({ parentPath: org, member: { name: "bob" } });
    expect(await failureOf(change)).toMatchObject({ code: "FailedPrecondition", reason: "STATE_FORBIDS" });
    expect(await failureOf(api.orgs.deleteOrg({ path: org }))).toMatchObject({ code: "FailedPrecondition" });
    const everywhere = await api.members.listMembers({ parentPath: "orgs/-", pageSize: 1000 });
    expect(everywhere.members.map((member) => member.id)).not.toContain(alice.id);
  });

  test("the customer of an org cannot be changed, and must exist", async () => {
    const { first } = await createPair();
    const { first: other } = await createPair();
    const org = { customerPath: other.customerPath };
    expect(await failureOf(api.orgs.updateOrg({ path: first.path, org }))).toMatchObject({
      code: "InvalidArgument",
      fields: ["org.customer_path"],
    });
    const nowhere = { name: uniqueName("acme"), customerPath: "/customers/nowhere" };
    expect(await failureOf(api.orgs.createOrg({ org: nowhere }))).toMatchObject({ code: "NotFound" });
    const broken = { name: uniqueName("acme"), customerPath: "nowhere" };
    expect(await failureOf(api.orgs.createOrg({ org: broken }))).toMatchObject({ fields: ["org.customer_path"] });
  });

  test("orgs are listed in the order of their creation, including deleted ones on request", async () => {
    const { first, second } = await createPair();
    await api.orgs.deleteOrg({ path: first.path });
    const ids = async (showDeleted: boolean) =>
      (await api.orgs.listOrgs({ pageSize: 1000, showDeleted })).orgs.map((org) => org.id);
    expect(await ids(false)).not.toContain(first.id);
    const all = await ids(true);
    expect(all.indexOf(first.id)).toBeLessThan(all.indexOf(second.id));
    expect(all).toEqual(all.toSorted());
    const customers = await api.customers.listCustomers({ pageSize: 1000 });
    expect(customers.customers.map((customer) => customer.path)).toContain(second.customerPath);
  });

  test("what the operator needs cannot be deleted", async () => {
    for (const call of [
      () => api.orgs.deleteOrg({ path: "orgs/system" }),
      () => api.customers.deleteCustomer({ path: "customers/system" }),
      () => api.members.deleteMember({ path: "orgs/system/members/operator" }),
    ]) {
      expect(await failureOf(call())).toMatchObject({ code: "FailedPrecondition", reason: "OPERATOR_PROTECTED" });
    }
  });
});
