// Tests DATABASE_URL with several hosts: a primary and its standby of PostgreSQL 15.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { checkServer, openDatabase } from "../../src/database/database.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { runTenantry } from "../support/command.ts";
import { hasDebianPostgres, startDebianPostgres } from "../support/debian-postgres.ts";
import { freePort } from "../support/free-port.ts";
import { startTestServer } from "../support/test-server.ts";

test.skipIf(!hasDebianPostgres)(
  "a service with several hosts uses the primary alone, and the next one after a failover",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "tenantry-hosts-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const primary = await startDebianPostgres(join(folder, "primary"));
    onTestFinished(() => primary.stop());
    const standby = await primary.startStandby(join(folder, "standby"));
    onTestFinished(() => standby.stop());
    const ports = [await freePort(), standby.port, primary.port];
    const hosts = ports.map(() => "127.0.0.1");
    const databaseUrl = `postgres:///tenantry?user=postgres&host=${hosts.join(",")}&port=${ports.join(",")}`;

    const server = await startTestServer({ databaseUrl, writeConnections: 4 });
    onTestFinished(() => server.close());
    const api = createApi("Connect", server.url, server.operatorKey);
    const { path } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
    const before = await primary.query(
      "select count(*)::integer as count from pg_stat_activity where application_name = 'tenantry'",
    );
    expect(before[0]?.["count"]).toBeGreaterThan(0);
    // Looks at hosts come and go.
    const onStandby =
      "select count(*)::integer as count from pg_stat_activity where application_name like 'tenantry%' and application_name <> 'tenantry hosts'";
    expect(await standby.query(onStandby)).toEqual([{ count: 0 }]);

    // What lags behind never answers.
    const database = openDatabase({
      connection: { connectionString: standby.url() },
      maxReadConnections: 2,
      maxWriteConnections: 2,
      onConnectionError: () => {},
    });
    await expect(checkServer(database)).rejects.toThrow(
      `the database server 127.0.0.1:${standby.port} is a standby, which may lag behind: DATABASE_URL must lead to the primary`,
    );
    await expect(sql`select 1`.execute(database.writes)).rejects.toThrow("is a standby");
    await expect(database.readPrepared("one", "select 1 as one", [])).rejects.toThrow("is a standby");
    await database.close();
    const migrated = await runTenantry(["migrate"], {
      env: { DATABASE_URL: standby.url(), TENANTRY_DATA: join(folder, "data") },
    });
    expect(migrated).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("DATABASE_URL must lead to the primary"),
    });
    // A dump of one moment may come from it.
    const dumped = await runTenantry(["dump", join(folder, "standby.dump")], {
      env: { DATABASE_URL: standby.url(), TENANTRY_DATA: join(folder, "data") },
    });
    expect(dumped).toMatchObject({ code: 0, stdout: expect.stringMatching(/\d+ rows of \d+ tables/) });

    await primary.stop();
    await standby.query("select pg_promote()");
    await expect
      .poll(() =>
        api.orgs.getOrg({ path }).then(
          () => "read",
          () => "not yet",
        ),
      )
      .toBe("read");
    await expect
      .poll(() =>
        api.members.createMember({ parentPath: path, member: { name: uniqueName("after") } }).then(
          () => "written",
          () => "not yet",
        ),
      )
      .toBe("written");
  },
);
