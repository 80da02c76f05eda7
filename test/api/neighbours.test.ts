// Tests that what one org does leaves the others their share of the service.
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** Creates an org, and returns its path and the client of an owner. */
async function createOwned(operator: Api): Promise<{ readonly path: string; readonly id: string; readonly api: Api }> {
  const org = await operator.orgs.createOrg({ org: { name: uniqueName("org") } });
  const owner = await operator.members.createMember({ parentPath: org.path, member: { name: "owner" } });
  const roleBinding = { name: "owner", subjectPath: owner.path, rolePath: "/roles/owner" };
  await operator.roleBindings.createRoleBinding({ parentPath: org.path, roleBinding });
  const { secret } = await operator.apiKeys.createApiKey({ parentPath: owner.path, apiKey: { name: "key" } });
  return { path: org.path, id: org.id, api: createApi("REST", server.url, secret) };
}

test("an org whose writes wait for each other leaves connections to others", async () => {
  const operator = createApi("REST", server.url, server.operatorKey);
  const [busy, quiet] = [await createOwned(operator), await createOwned(operator)];
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  await client.query("begin");
  await client.query("select from orgs where id = $1 for update", [busy.id]);
  const create = ({ api, path }: typeof busy, name: string) =>
    api.projects.createProject({ parentPath: path, project: { name } });
  const waiting = Array.from({ length: 30 }, (_, index) => create(busy, `p-${index}`));
  // All of the others' writes, singly and at once, while none of the org's own can end.
  await create(quiet, "first");
  await Promise.all(Array.from({ length: 10 }, (_, index) => create(quiet, `q-${index}`)));
  const { projects } = await quiet.api.projects.listProjects({ parentPath: quiet.path });
  expect(projects).toHaveLength(11);
  // The operator writes into the org that is busy, and into others.
  waiting.push(create({ ...busy, api: operator }, "by-operator"));
  await create({ ...quiet, api: operator }, "by-operator");
  await client.query("commit");
  await client.end();
  expect(await Promise.all(waiting)).toHaveLength(31);
});
