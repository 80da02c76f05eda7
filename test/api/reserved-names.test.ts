// Tests for how long the names of deleted customers and orgs are reserved, and what errors reveal about them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type Failure, failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
let operator: Api;
beforeAll(async () => {
  server = await startTestServer({ purgeIntervalMs: 100 });
  operator = createApi("gRPC", server.url, server.operatorKey);
});
afterAll(() => server.close());

/** Creates a member of the org `system` that holds `admin` on the platform. */
async function createAdmin(condition: string): Promise<Api> {
  const parentPath = "/orgs/system";
  const { path } = await operator.members.createMember({ parentPath, member: { name: uniqueName("admin") } });
  const { secret } = await operator.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
  const roleBinding = { name: uniqueName("binding"), rolePath: "/roles/admin", subjectPath: path, condition };
  await operator.roleBindings.createRoleBinding({ roleBinding });
  return createApi("gRPC", server.url, secret);
}

/** Returns a failure with a placeholder for a name, and without the request id. */
function withoutName({ requestId: _id, ...failure }: Failure, name: string): object {
  return JSON.parse(JSON.stringify(failure).replaceAll(name, "<name>")) as object;
}

test("the names of an org and its customer are free after the purge, not before", async () => {
  const name = uniqueName("victim");
  const create = (): Promise<object> => operator.orgs.createOrg({ org: { name } });
  const { customerPath } = (await create()) as { customerPath: string };
  const { path } = await operator.customers.deleteCustomer({ path: customerPath });
  expect(await failureOf(create())).toMatchObject({ code: "AlreadyExists", metadata: { resource: path } });
  await operator.customers.purgeCustomer({ path });
  const attempt = (): Promise<unknown> => create().catch(async (error: unknown) => failureOf(Promise.reject(error)));
  await expect.poll(attempt).toMatchObject({ path: `/orgs/${name}` });
});

test("the name of an org that was deleted without its customer is reserved in the customer, too", async () => {
  const first = await operator.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const { customerPath } = first;
  const second = await operator.orgs.createOrg({ org: { name: uniqueName("acme"), customerPath } });
  const { path } = await operator.orgs.deleteOrg({ path: second.path });
  const failure = await failureOf(operator.orgs.createOrg({ org: { name: second.name, customerPath } }));
  expect(failure).toMatchObject({ code: "AlreadyExists", metadata: { resource: path } });
});

describe("a caller who may create orgs but not get them", () => {
  test("gets the same error for a reserved name and a taken one", async () => {
    const blind = await createAdmin(`resource.path == "/"`);
    const living = await operator.orgs.createOrg({ org: { name: uniqueName("living") } });
    const deleted = await operator.orgs.createOrg({ org: { name: uniqueName("deleted") } });
    const extra = await operator.orgs.createOrg({
      org: { name: uniqueName("extra"), customerPath: living.customerPath },
    });
    const gone = await operator.orgs.createOrg({
      org: { name: uniqueName("gone"), customerPath: living.customerPath },
    });
    await operator.customers.deleteCustomer({ path: deleted.customerPath });
    await operator.orgs.deleteOrg({ path: gone.path });
    expect(await failureOf(blind.orgs.getOrg({ path: `/orgs/@${gone.id}` }))).toMatchObject({
      code: "PermissionDenied",
    });
    const errors = async (api: Api, one: string, other: string, customerPath?: string) => {
      const create = async (name: string) =>
        withoutName(
          await failureOf(api.orgs.createOrg({ org: { name, ...(customerPath && { customerPath }) } })),
          name,
        );
      return [await create(one), await create(other)] as const;
    };
    for (const [ofDeleted, ofLiving] of [
      await errors(blind, deleted.name, living.name),
      await errors(blind, gone.name, extra.name, living.customerPath),
    ]) {
      expect(ofLiving).toMatchObject({ code: "AlreadyExists", metadata: { name: "<name>" } });
      expect(ofDeleted).toEqual(ofLiving);
    }
    const [ofDeleted, ofLiving] = await errors(await createAdmin(""), deleted.name, living.name);
    expect(ofDeleted).not.toEqual(ofLiving);
  });
});
