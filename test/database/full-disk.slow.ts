// Tests what callers see while the disk of the database is full, and that everything goes on by itself once there is room.
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import pg from "pg";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import { scrape } from "../metrics/scrape.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { serveTenantry } from "../support/command.ts";
import { hasDebianPostgres, startDebianPostgres } from "../support/debian-postgres.ts";
import { expectNoDrift } from "../support/expect-no-drift.ts";
import { failureOf } from "../support/failure.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { startTestServer } from "../support/test-server.ts";
import { writeUntilFull } from "../support/write-until-full.ts";

const probe = mountSmallDisk(1);
afterAll(() => probe?.remove());

const refused = {
  code: "Unavailable",
  reason: "SERVICE_UNAVAILABLE",
  message: "the disk of the database is full; try again when its operator has made room",
};

async function listNames({ members }: Api, parentPath: string): Promise<string[]> {
  const names: string[] = [];
  for (let pageToken = ""; ;) {
    const page = await members.listMembers({ parentPath, pageToken, pageSize: 1_000 });
    names.push(...page.members.map(({ name }) => name));
    if ((pageToken = page.nextPageToken) === "") return names;
  }
}

describe.skipIf(probe === undefined)("a full disk", () => {
  test.skipIf(!hasDebianPostgres)(
    "of PostgreSQL refuses writes, answers reads and checks, and forgets nothing",
    async () => {
      const disk = mountSmallDisk(200);
      if (disk === undefined) return;
      onTestFinished(() => disk.remove());
      const postgres = await startDebianPostgres(join(disk.folder, "postgres"), [
        "max_wal_size=32MB",
        "min_wal_size=32MB",
      ]);
      onTestFinished(() => postgres.stop());
      const server = await startTestServer({ databaseUrl: postgres.url(), metricsPort: 0 });
      onTestFinished(() => server.close());
      const api = createApi("Connect", server.url, server.operatorKey);
      const { path } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const member = { name: "alice" };
      const { path: subjectPath } = await api.members.createMember({ parentPath: path, member });
      const roleBinding = { name: "viewer", subjectPath, rolePath: "/roles/viewer" };
      await api.roleBindings.createRoleBinding({ parentPath: path, roleBinding });
      const before = await listNames(api, path);
      const counted = async () => (await scrape(server.metricsUrl)).valueOf("tenantry_database_disk_full_total");
      expect(await counted()).toBe(0);

      // A log that finds no room ends the server of the database, so it has all of a file left.
      await postgres.query("select pg_switch_wal()");
      await postgres.query("checkpoint");
      disk.fill();
      const { made, failure } = await writeUntilFull(api, path);
      expect(failure).toMatchObject(refused);
      expect(await counted()).toBeGreaterThan(0);
      // What a sentence of REST says to wait.
      const answer = await fetch(`${server.url}/iam/v1alpha${path}/members`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
        body: JSON.stringify({ name: uniqueName("member"), description: "x".repeat(1_000) }),
      });
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);

      expect((await api.orgs.getOrg({ path })).path).toBe(path);
      expect((await listNames(api, path)).toSorted()).toEqual([...before, ...made].toSorted());
      const question = { subjectPath, permission: "iam.members.get", resourcePath: path };
      const check = () => createClient(AccessService, api.transport).checkAccess(question);
      expect((await check()).allowed).toBe(true);
      await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200);

      disk.makeRoom();
      const later = uniqueName("later");
      await api.members.createMember({ parentPath: path, member: { name: later } });
      expect((await listNames(api, path)).toSorted()).toEqual([...before, ...made, later].toSorted());
      await expectNoDrift(postgres.url());
    },
  );

  test.skipIf(!hasDebianPostgres)(
    "of the write-ahead log ends PostgreSQL, which has all that was acknowledged once it is started again",
    async () => {
      const disk = mountSmallDisk(200);
      if (disk === undefined) return;
      onTestFinished(() => disk.remove());
      const directory = await mkdtemp(join(tmpdir(), "tenantry-full-log-"));
      onTestFinished(() => rm(directory, { recursive: true, force: true }));
      const postgres = await startDebianPostgres(
        join(directory, "postgres"),
        ["max_wal_size=32MB", "min_wal_size=32MB"],
        join(disk.folder, "log"),
      );
      onTestFinished(() => postgres.stop());
      const server = await startTestServer({ databaseUrl: postgres.url() });
      onTestFinished(() => server.close());
      const api = createApi("Connect", server.url, server.operatorKey);
      const { path } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
      const before = await listNames(api, path);

      disk.fill();
      const [{ made, failure }] = await Promise.all([
        writeUntilFull(api, path),
        expect(writeLog(postgres.url())).rejects.toThrow(),
      ]);
      expect(failure).toMatchObject({ code: "Unavailable", reason: "SERVICE_UNAVAILABLE" });
      // Without room, it cannot begin again.
      await postgres.ended();
      expect((await failureOf(api.orgs.getOrg({ path }))).reason).toBe("SERVICE_UNAVAILABLE");
      await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(503);

      disk.makeRoom();
      await postgres.restart();
      const later = uniqueName("later");
      await expect
        .poll(() =>
          api.members.createMember({ parentPath: path, member: { name: later } }).then(
            () => "written",
            () => "not yet",
          ),
        )
        .toBe("written");
      const names = await listNames(api, path);
      expect(names).toEqual(expect.arrayContaining([...before, ...made, later]));
      await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200);
      await expectNoDrift(postgres.url());
    },
  );

  test("of the data directory ends the embedded database, which is back by itself", async () => {
    const disk = mountSmallDisk(300);
    if (disk === undefined) return;
    onTestFinished(() => disk.remove());
    const data = join(disk.folder, "data");
    const env = { TENANTRY_DATA: data, HOME: disk.folder };
    const served = await serveTenantry({ cwd: disk.folder, env });
    onTestFinished(async () => void (await served.signal("SIGTERM")));
    const api = createApi("Connect", served.url, readFileSync(join(data, "operator-key"), "utf8").trim());
    const { path } = await api.orgs.createOrg({ org: { name: "acme" } });
    const cluster = join(data, "postgres/cluster");
    const write = () => api.members.createMember({ parentPath: path, member: { name: uniqueName("member") } });

    disk.fill();
    // Its log needs a new file, which ends it where a table that finds no room would only refuse a write.
    const [, , , port] = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
    const connection = { host: cluster, port: Number(port), user: "tenantry", database: "tenantry" };
    await expect(writeLog(connection)).rejects.toThrow();
    await expect.poll(async () => (await failureOf(write())).reason).toBe("SERVICE_UNAVAILABLE");

    disk.makeRoom();
    await expect
      .poll(() =>
        write().then(
          () => "written",
          () => "not yet",
        ),
      )
      .toBe("written");
    expect((await api.orgs.getOrg({ path })).path).toBe(path);
  });
});

/** Writes to the log of the database and nowhere else, a hundred megabytes. */
async function writeLog(connection: string | pg.ClientConfig): Promise<void> {
  const client = new pg.Client(connection);
  client.on("error", () => {});
  await client.connect();
  try {
    for (let count = 0; count < 100; count++)
      await client.query("select pg_logical_emit_message(false, 'test', repeat(md5(random()::text), 32768))");
  } finally {
    await client.end().catch(() => {});
  }
}
