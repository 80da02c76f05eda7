// Tests what happens when the certificates of the database and of its authority are replaced: servers go on, and are not started again.
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { createAuthority } from "../support/certificates.ts";
import { runTenantry } from "../support/command.ts";
import { hasDebianPostgres, startDebianPostgres } from "../support/debian-postgres.ts";
import { failureOf } from "../support/failure.ts";
import { startTestServer } from "../support/test-server.ts";

async function prepare() {
  const folder = await mkdtemp(join(tmpdir(), "tenantry-certificates-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const data = join(folder, "postgres");
  const postgres = await startDebianPostgres(data);
  onTestFinished(() => postgres.stop());
  const authorities = join(folder, "authorities");
  mkdirSync(authorities);
  const [before, after] = ["before", "after"].map((name) => createAuthority(authorities, name));
  if (before === undefined || after === undefined) throw new Error("there are two");
  before.issue(data);
  await postgres.query("create role tenantry login superuser password 'a secret of its own'");
  await postgres.query("alter system set ssl = on");
  // The administrator of the test alone needs none.
  const administrator = "host all postgres 127.0.0.1/32 trust";
  await postgres.allow([administrator, "hostssl all tenantry 127.0.0.1/32 scram-sha-256"]);
  const bundle = join(folder, "ca.pem");
  writeFileSync(bundle, before.certificate);
  const login = `tenantry:${encodeURIComponent("a secret of its own")}`;
  const databaseUrl = `postgres://${login}@127.0.0.1:${postgres.port}/tenantry?sslmode=verify-full&sslrootcert=${bundle}`;
  /** Lets the server of the database use its certificate of now, and ends all connections of the role. */
  const reload = async (): Promise<void> => {
    const loaded = async () => (await postgres.query("select pg_conf_load_time()::text as at"))[0]?.["at"];
    const formerly = await loaded();
    await postgres.query("select pg_reload_conf()");
    // Connections that are opened from now on have it.
    await expect.poll(loaded).not.toBe(formerly);
    await postgres.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'tenantry'");
  };
  return { folder, data, before, after, bundle, databaseUrl, postgres, reload };
}

test.skipIf(!hasDebianPostgres)(
  "a database gets the certificate of another authority while a server runs",
  async () => {
    const { data, before, after, bundle, databaseUrl, postgres, reload } = await prepare();
    const server = await startTestServer({ databaseUrl });
    onTestFinished(() => server.close());
    const api = createApi("Connect", server.url, server.operatorKey);
    const { path: parentPath } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
    const write = () => api.members.createMember({ parentPath, member: { name: uniqueName("member") } });
    const outcome = () =>
      write().then(
        () => "written",
        () => "not yet",
      );

    // As docs/operating.md says: both authorities first, then the certificate, then the new authority alone.
    writeFileSync(bundle, before.certificate + after.certificate);
    after.issue(data);
    await reload();
    await expect.poll(outcome).toBe("written");
    writeFileSync(bundle, after.certificate);
    await reload();
    await expect.poll(outcome).toBe("written");
    const encrypted = "select distinct ssl from pg_stat_ssl natural join pg_stat_activity where usename = 'tenantry'";
    expect(await postgres.query(encrypted)).toEqual([{ ssl: true }]);

    // Somebody is writing the file.
    for (const half of ["", after.certificate.slice(0, 200)]) {
      writeFileSync(bundle, half);
      await reload();
      await expect.poll(outcome).toBe("written");
    }
    expect(server.logLines.join("")).toContain(
      "sslrootcert, " + bundle + ", has no certificate in PEM; connections use what was there before",
    );

    // The authority of the certificate is not there: nothing is sent, and it mends itself when it is.
    writeFileSync(bundle, before.certificate);
    await reload();
    await expect.poll(async () => (await failureOf(write())).reason).toBe("SERVICE_UNAVAILABLE");
    await expect.poll(() => server.logLines.join("")).toContain("sslrootcert in DATABASE_URL must name the authority");
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    writeFileSync(bundle, after.certificate);
    await expect.poll(outcome).toBe("written");
  },
);

test.skipIf(!hasDebianPostgres)("a start with another authority ends with what to change", async () => {
  const { folder, after, bundle, databaseUrl } = await prepare();
  const env = { DATABASE_URL: databaseUrl, TENANTRY_DATA: join(folder, "data"), PORT: "0" };
  writeFileSync(bundle, after.certificate);
  for (const command of ["serve", "migrate"]) {
    const ended = await runTenantry([command], { env });
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("must name the authority of its certificate"),
    });
  }
});
