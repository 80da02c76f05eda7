// Tests the times and sources of the entries in the change log, and its partitions.
import { sql as statement } from "kysely";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { createPartitions, dropPartitions } from "../../src/database/partitions.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { createBeforeEnd } from "../support/create-before-end.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
let sql: SqlClient;
let api: Api;
beforeAll(async () => {
  server = await startTestServer({ trustedProxies: ["loopback"], purgeIntervalMs: 100 });
  sql = await openSqlClient(server.databaseUrl);
  api = createApi("gRPC", server.url, server.operatorKey);
});
afterAll(async () => {
  await sql.close();
  await server.close();
});

const newOrg = () => api.orgs.createOrg({ org: { name: uniqueName("acme") } });

const lines = (orgId: string, what = "*") =>
  sql.query(`select ${what} from changes where org_id = $1 order by revision, position`, [orgId]);

describe("the times of an org's changes", () => {
  test("increase with its revisions, in microseconds, and equal those of the rows", async () => {
    const org = await newOrg();
    const names = Array.from({ length: 100 }, (_, index) => `p${index}`);
    const make = async (): Promise<void> => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const project = { name, description: "new" };
        const { path } = await api.projects.createProject({ parentPath: org.path, project });
        await api.projects.updateProject({ path, project: { description: "changed" } });
      }
    };
    await Promise.all(Array.from({ length: 16 }, make));
    const logged = await lines(org.id, "time::text, time > lag(time) over (order by revision) as later");
    expect(logged).toHaveLength(201);
    expect(logged.slice(1).filter(({ later }) => later !== true)).toEqual([]);
    expect(logged.filter(({ time }) => /\.\d{6}/.test(String(time))).length).toBeGreaterThan(150);
    const [rows] = await sql.query(
      `select count(*)::int as count from projects join changes using (org_id)
        where org_id = $1 and resource_id = id and changed_revision = revision
          and update_time = time::timestamptz(3) and create_time <= update_time`,
      [org.id],
    );
    expect(rows).toEqual({ count: 100 });
  });

  test("increase even while the clock of the database is behind", async () => {
    const org = await newOrg();
    await sql.query("update orgs set revision_time = now() + interval '1 day' where id = $1", [org.id]);
    for (const name of ["a", "b"]) await api.projects.createProject({ parentPath: org.path, project: { name } });
    const [, first, second] = await lines(org.id, "time, time - lag(time) over (order by revision) as step");
    expect(Number(first?.["time"])).toBeGreaterThan(Date.now() + 80_000_000);
    expect(second?.["step"]).toEqual({ milliseconds: 0.001 });
  });
});

describe("an entry", () => {
  const headers = {
    "user-agent": "audit/1",
    "x-request-id": "request-1",
    "x-request-reason": "ticket 4711",
    "x-on-behalf-of": "carol@example.com",
    "x-forwarded-for": "198.51.100.9, 192.0.2.7",
  };

  test("has the source of the change, over RPC and REST", async () => {
    const org = await newOrg();
    const authorization = `Bearer ${server.operatorKey}`;
    const transport = createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" });
    await createClient(ProjectsService, transport).createProject(
      { parentPath: org.path, project: { name: "rpc" } },
      { headers: { ...headers, authorization } },
    );
    const response = await fetch(`${server.url}/iam/v1alpha${org.path}/projects`, {
      method: "POST",
      headers: { ...headers, authorization, "content-type": "application/json" },
      body: JSON.stringify({ name: "rest" }),
    });
    expect(response.status).toBe(201);
    const [operator] = await sql.query(
      "select api_keys.id as key, installation.* from installation join api_keys on org_id = system_org_id",
    );
    const logged = await lines(org.id);
    expect(logged.slice(1)).toMatchObject(
      ["rpc", "rest"].map(() => ({
        format: 4,
        actor_org_id: operator?.["system_org_id"],
        actor_id: operator?.["operator_id"],
        credential_id: operator?.["key"],
        request_id: "request-1",
        remote_address: "192.0.2.7",
        user_agent: "audit/1",
        reason: "ticket 4711",
        on_behalf_of: "carol@example.com",
        end_time: null,
      })),
    );
  });

  test.each([
    ["fe80::1%eth0", "fe80::1"],
    ["::ffff:192.0.2.7", "::ffff:192.0.2.7"],
    ["unknown", "127.0.0.1"],
  ])("has an address that the database can store, for the forwarded %s", async (forwarded, stored) => {
    const org = await newOrg();
    const response = await fetch(`${server.url}/iam/v1alpha${org.path}/projects`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${server.operatorKey}`,
        "content-type": "application/json",
        "x-forwarded-for": forwarded,
      },
      body: JSON.stringify({ name: "rest" }),
    });
    expect(response.status).toBe(201);
    expect((await lines(org.id)).at(-1)).toMatchObject({ remote_address: stored });
  });

  test("ignores the forwarded address of a client that is not a trusted proxy", async () => {
    const strict = await startTestServer({ databaseUrl: server.databaseUrl });
    onTestFinished(() => strict.close());
    const org = await newOrg();
    await fetch(`${strict.url}/iam/v1alpha${org.path}/projects`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "rest" }),
    });
    expect((await lines(org.id)).at(-1)).toMatchObject({ remote_address: "127.0.0.1" });
  });

  test.each([
    ["x-request-reason", "r".repeat(257)],
    ["x-on-behalf-of", "Zoë"],
  ])("with an invalid %s causes the write to be rejected", async (name, value) => {
    const org = await newOrg();
    const response = await fetch(`${server.url}/iam/v1alpha${org.path}/projects`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json", [name]: value },
      body: JSON.stringify({ name: "rest" }),
    });
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain(
      `${name}: must be at most 256 characters of printable ASCII`,
    );
    expect(await lines(org.id)).toHaveLength(1);
  });

  test("is written for expired resources, with the time of expiry", async () => {
    const { created, expireTime: end } = await createBeforeEnd(async (expireTime) => {
      const org = await newOrg();
      const { path: parentPath } = org;
      const member = await api.members.createMember({ parentPath, member: { name: "alice" } });
      const group = await api.groups.createGroup({ parentPath, group: { name: "sre" } });
      const groupMember = { memberPath: member.path, expireTime };
      await api.groupMembers.createGroupMember({ parentPath: group.path, groupMember });
      const roleBinding = { name: "b", subjectPath: member.path, rolePath: "/roles/viewer", expireTime };
      await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
      await api.members.createMember({
        parentPath,
        member: { name: "bob", state: 1, invitationExpireTime: expireTime },
      });
      await api.apiKeys.createApiKey({ parentPath: member.path, apiKey: { name: "ci", expireTime } });
      return org;
    });
    const { id } = created;
    const ended = async () =>
      (await lines(id))
        .filter(({ method }) => method === "tenantry/purge")
        .map((line) => String(line["resource_type"]));
    await expect.poll(ended).toHaveLength(4);
    expect((await ended()).toSorted()).toEqual(["ApiKey", "GroupMember", "Member", "RoleBinding"]);
    for (const line of (await lines(id)).slice(-4))
      expect(line).toMatchObject({ end_time: timestampDate(end), actor_id: null });
  });
});

test("replacing an expired resource writes an entry, too", async () => {
  const quiet = await startTestServer();
  onTestFinished(() => quiet.close());
  const own = createApi("gRPC", quiet.url, quiet.operatorKey);
  const { path: parentPath, id } = await own.orgs.createOrg({ org: { name: "acme" } });
  const member = await own.members.createMember({ parentPath, member: { name: "alice" } });
  const group = await own.groups.createGroup({ parentPath, group: { name: "sre" } });
  const client = await openSqlClient(quiet.databaseUrl);
  onTestFinished(() => client.close());
  const bind = () =>
    own.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: { name: "b", subjectPath: member.path, rolePath: "/roles/viewer" },
    });
  const join = () =>
    own.groupMembers.createGroupMember({ parentPath: group.path, groupMember: { memberPath: member.path } });
  await bind();
  await join();
  for (const table of ["role_bindings", "group_members"]) {
    await client.query(`update ${table} set expire_time = now() where org_id = $1`, [id]);
  }
  await bind();
  await join();
  const logged = await client.query(
    `select resource_type as type, after is null as removed, end_time is not null as ended from changes
      where org_id = $1 order by revision, position`,
    [id],
  );
  const created = { removed: false, ended: false };
  const ended = { removed: true, ended: true };
  expect(logged.slice(-4)).toEqual([
    { type: "RoleBinding", ...ended },
    { type: "RoleBinding", ...created },
    { type: "GroupMember", ...ended },
    { type: "GroupMember", ...created },
  ]);
});

describe("the partitions of the change log", () => {
  const names = async (database: Awaited<ReturnType<typeof openTestDatabase>>): Promise<string[]> => {
    const { rows } = await statement<{ name: string }>`
      select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'changes'::regclass order by 1`.execute(database.reads);
    return rows.map(({ name }) => name);
  };

  /** Opens a database, and returns the partitions of months that have not begun, too. One may have begun since its template was made. */
  const openAhead = async () => {
    const database = await openTestDatabase();
    await createPartitions(database.writes);
    return { database, ahead: (await names(database)).slice(-24) };
  };

  test("cover the next two years, and are created once by servers that start concurrently", async () => {
    const { database, ahead } = await openAhead();
    const now = new Date();
    const months = ahead.map((_, index) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1 + index)));
    expect(ahead).toEqual(months.map((month) => `changes_${month.toISOString().slice(0, 7).replace("-", "_")}`));
    for (const name of ahead) await statement`drop table ${statement.table(name)}`.execute(database.writes);
    const created = await Promise.all([1, 2, 3].map(() => createPartitions(database.writes)));
    expect(created.flat()).toEqual(ahead);
    expect((await names(database)).slice(-24)).toEqual(ahead);
  });

  test("are not created again by a server that has waited for the one that creates them", async () => {
    const { database, ahead } = await openAhead();
    const [first = "", ...others] = ahead;
    for (const name of ahead) await statement`drop table ${statement.table(name)}`.execute(database.writes);
    const countWaiting = async (): Promise<number> => {
      const waiting = statement`
        select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      return (await waiting.execute(database.reads)).rows.length;
    };
    const creating = await database.reads.transaction().execute(async (holder) => {
      await statement`select pg_advisory_xact_lock(6410297355)`.execute(holder);
      const created = createPartitions(database.writes);
      await expect.poll(countWaiting).toBe(1);
      await statement`create table ${statement.table(first)} (like changes including all)`.execute(holder);
      return { created };
    });
    expect(await creating.created).toEqual(others);
  });

  test("are dropped when all their entries are older than the retention", async () => {
    const database = await openTestDatabase();
    const before = await names(database);
    for (const [name, start, end] of [
      ["changes_2020_01", "2020-01-01 00:00:00+00", "2020-02-01 00:00:00+00"],
      ["changes_2020_02", "2020-02-01 00:00:00+00", "2020-03-01 00:00:00+00"],
    ] as const) {
      await statement`create table ${statement.table(name)} partition of changes
        for values from (${statement.lit(start)}) to (${statement.lit(end)})`.execute(database.writes);
    }
    const days = Math.ceil((Date.now() - Date.UTC(2020, 1, 15)) / 86_400_000);
    expect(await dropPartitions(database, days)).toEqual(["changes_2020_01"]);
    expect(await names(database)).toEqual(["changes_2020_02", ...before]);
    expect(await dropPartitions(database, 400)).toEqual(["changes_2020_02"]);
    expect(await dropPartitions(database, 400)).toEqual([]);
  });
});
