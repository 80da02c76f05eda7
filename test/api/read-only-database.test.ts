// Tests a database that accepts no writes, such as a standby or after a failover: reads succeed, and writes can be retried
// later.
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** Sets whether new connections are read-only, and ends the others. */
async function setReadOnly(value: "on" | "off"): Promise<void> {
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ name: string }>("select current_database() as name");
  const name = pg.escapeIdentifier(rows[0]?.name ?? "");
  await client.query(`set default_transaction_read_only = off`);
  await client.query(`alter database ${name} set default_transaction_read_only = ${value}`);
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await client.end();
}

const readiness = async () => (await fetch(`${server.url}/readyz`)).status;

test.each(["REST", "Connect", "gRPC"] as const)(
  "over %s, writes are UNAVAILABLE and reads are answered",
  async (protocol) => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
    await expect.poll(readiness).toBe(200);
    await setReadOnly("on");
    await expect.poll(readiness).toBe(503);
    expect(
      await failureOf(api.projects.createProject({ parentPath: org.path, project: { name: "web" } })),
    ).toMatchObject({
      code: "Unavailable",
      reason: "SERVICE_UNAVAILABLE",
    });
    expect(await api.orgs.getOrg({ path: org.path })).toEqual(org);
    await setReadOnly("off");
    await expect.poll(readiness).toBe(200);
    const { path } = await api.projects.createProject({ parentPath: org.path, project: { name: "web" } });
    expect(path).toBe(`${org.path}/projects/web`);
  },
);
