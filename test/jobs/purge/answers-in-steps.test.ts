// Tests what lists show while the job removes, in several transactions, what refers to a deleted resource.
import { afterAll, beforeAll, expect, test } from "vitest";
import pino from "pino";
import { registry } from "../../../src/resource-registry.ts";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { type PurgeJob, createPurgeJob } from "../../../src/jobs/purge/purge-job.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";

let one: TestServer;
let other: TestServer;
let sql: SqlClient;
let database: Database;
let job: PurgeJob;
let writer: Api;
let reader: Api;
let parentPath: string;

/** The time of the job's clock. A step takes as long as a run may. */
let time = 0;
const maxRunMs = 10;
const rowsPerStep = 5;
const rowsOfEach = 12;

beforeAll(async () => {
  one = await startTestServer({ retentionDays: 0 });
  other = await startTestServer({ retentionDays: 0, databaseUrl: one.databaseUrl });
  sql = await openSqlClient(one.databaseUrl);
  const options = { maxReadConnections: 2, maxWriteConnections: 4, onConnectionError: () => {} };
  database = openDatabase({ connection: { connectionString: one.databaseUrl }, ...options });
  const [{ id: systemOrgId } = {}] = await sql.query("select system_org_id as id from installation");
  job = createPurgeJob({
    database,
    registry,
    installation: { systemOrgId: String(systemOrgId) },
    retentionDays: 0,
    intervalMs: 3_600_000,
    logger: pino({ level: "silent" }),
    rowsPerStep,
    maxRunMs,
    clock: () => time,
    onStep: () => void (time += maxRunMs),
  });
  writer = createApi("gRPC", one.url, one.operatorKey);
  reader = createApi("Connect", other.url, one.operatorKey);
  ({ path: parentPath } = await writer.orgs.createOrg({ org: { name: uniqueName("acme") } }));
});

afterAll(async () => {
  await job.close();
  await database.close();
  await sql.close();
  await other.close();
  await one.close();
});

/** Reads several times, so that the answer is kept. Returns what the last read has found. */
async function keep(read: () => Promise<number>): Promise<number> {
  for (let round = 0; round < 3; round++) await read();
  return read();
}

/** Runs the job until it is done. Expects lists of the reader to have what there is after each of its steps. */
async function expectInSteps(list: () => Promise<number>, table: string, column: string, id: string): Promise<void> {
  const stored = async (): Promise<number> => {
    const [row] = await sql.query(`select count(*)::int as n from ${table} where ${column} = $1`, [id]);
    return Number(row?.["n"]);
  };
  const seen = [await keep(list)];
  for (let isDone = false; !isDone;) {
    ({ isDone } = await job.runOnce());
    seen.push(await list());
    expect(seen.at(-1)).toBe(await stored());
    await keep(list);
  }
  expect(new Set(seen).size).toBeGreaterThan(2);
  expect(seen.at(-1)).toBe(0);
}

test("role bindings of a member are in lists until the step that removes them", async () => {
  const { path, id } = await writer.members.createMember({ parentPath, member: { name: uniqueName("holder") } });
  for (let index = 0; index < rowsOfEach; index++) {
    const roleBinding = { name: uniqueName("binding"), rolePath: "/roles/viewer", subjectPath: path };
    await writer.roleBindings.createRoleBinding({ parentPath, roleBinding });
  }
  await writer.members.deleteMember({ path });
  const filter = `subject_path = "${parentPath}/members/@${id}"`;
  const list = async () => (await reader.roleBindings.listRoleBindings({ parentPath, filter })).roleBindings.length;
  await expectInSteps(list, "role_bindings", "member_id", id);
});

test("identities of a member are in lists until the step that removes them, and so is their number", async () => {
  const { path, id } = await writer.members.createMember({ parentPath, member: { name: uniqueName("holder") } });
  const identityProvider = { name: uniqueName("issuer"), issuer: "https://login.example.com", clientId: "tenantry" };
  const provider = await writer.identityProviders.createIdentityProvider({ parentPath, identityProvider });
  for (let index = 0; index < rowsOfEach; index++) {
    const identity = { name: uniqueName("identity"), identityProviderPath: provider.path, subject: uniqueName("s") };
    await writer.identities.createIdentity({ parentPath: path, identity });
  }
  await writer.members.deleteMember({ path });
  const list = async (): Promise<number> => {
    const call = { parentPath: `${parentPath}/members/@${id}` };
    const answer = await reader.identities.listIdentities(call).catch(() => undefined);
    // Nothing is found below the member when it is gone, too.
    if (answer === undefined) return 0;
    expect(answer.totalSize).toBe(answer.identities.length);
    return answer.identities.length;
  };
  await expectInSteps(list, "identities", "member_id", id);
});

test("role bindings on a project are in lists until the step that removes them", async () => {
  const { path, id } = await writer.projects.createProject({ parentPath, project: { name: uniqueName("project") } });
  const holder = await writer.members.createMember({ parentPath, member: { name: uniqueName("holder") } });
  for (let index = 0; index < rowsOfEach; index++) {
    const roleBinding = { name: uniqueName("binding"), rolePath: "/roles/viewer", subjectPath: holder.path };
    await writer.roleBindings.createRoleBinding({ parentPath: path, roleBinding });
  }
  await writer.projects.deleteProject({ path });
  const list = async (): Promise<number> => {
    const call = { parentPath: `${parentPath}/projects/@${id}` };
    const answer = await reader.roleBindings.listRoleBindings(call).catch(() => undefined);
    return answer?.roleBindings.length ?? 0;
  };
  await expectInSteps(list, "role_bindings", "project_id", id);
});

test("what is in a deleted org is in lists until the step that removes it", async () => {
  const org = await writer.orgs.createOrg({ org: { name: uniqueName("gone") } });
  for (let index = 0; index < rowsOfEach; index++) {
    await writer.groups.createGroup({ parentPath: org.path, group: { name: uniqueName("group") } });
  }
  const list = async (): Promise<number> => {
    const answer = await reader.groups.listGroups({ parentPath: `/orgs/@${org.id}` }).catch(() => undefined);
    return answer?.groups.length ?? 0;
  };
  expect(await keep(list)).toBe(rowsOfEach);
  await writer.customers.deleteCustomer({ path: org.customerPath });
  await expectInSteps(list, "groups", "org_id", org.id);
});
