// Tests that a dump moves a database between majors of PostgreSQL: from the embedded one to the oldest supported one, and back.
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { openCompany } from "../access/callers.ts";
import { makePrivateFolder, runTenantry, serveTenantry } from "../support/command.ts";
import { hasDebianPostgres, startDebianPostgres } from "../support/debian-postgres.ts";
import { createRandomHistory } from "../support/random-history.ts";

test.skipIf(!hasDebianPostgres)("a database moves from PostgreSQL 18 to 15 and back with a dump", async () => {
  const { folder, remove } = await makePrivateFolder(undefined, { withCluster: true });
  onTestFinished(remove);
  const shared = await mkdtemp(join(tmpdir(), "tenantry-majors-"));
  onTestFinished(() => rm(shared, { recursive: true, force: true }));
  const postgres = await startDebianPostgres(join(shared, "cluster"));
  onTestFinished(() => postgres.stop());

  const env = (data: string, url?: string): Record<string, string> => ({
    TENANTRY_DATA: join(folder, data),
    TENANTRY_SECRET_KEYS_FILE: join(folder, "data/secret-keys"),
    ...(url !== undefined && { DATABASE_URL: url }),
  });
  const run = async (args: readonly string[], environment: Record<string, string>): Promise<string> => {
    const { code, stdout, stderr } = await runTenantry(args, { env: environment });
    expect({ code, stderr: code === 0 ? "" : stderr, stdout }).toMatchObject({ code: 0 });
    return stdout;
  };
  /** Returns the hash of each table of a dump. */
  const hashesOf = async (file: string): Promise<ReadonlyMap<string, string>> => {
    const text = zstdDecompressSync(await readFile(file)).toString();
    const ends = text.matchAll(/^\{"table":"(\w+)".*\n(?:[^{].*\n)*?\\\.\n(\{"rows".*)$/gm);
    return new Map([...ends].map(([, table = "", end = ""]) => [table, end]));
  };

  await mkdir(join(folder, "data"), { recursive: true });
  const embedded = { TENANTRY_DATA: join(folder, "data") };
  const served = await serveTenantry({ env: embedded });
  const operatorKey = (await readFile(join(folder, "data/operator-key"), "utf8")).trim();
  const server = { url: served.url, operatorKey } as Parameters<typeof openCompany>[1];
  const { api, org } = await openCompany("REST", server);
  const history = createRandomHistory(api, org.path);
  for (let each = 0; each < 150; each++) await history.write();
  // From the database of a running service.
  const first = join(folder, "first.dump");
  await run(["dump", first], embedded);
  await served.signal("SIGTERM");

  await run(["restore", first], env("on-15", postgres.url()));
  const second = join(folder, "second.dump");
  await run(["dump", second], env("on-15", postgres.url()));
  await run(["restore", second], env("back"));
  const third = join(folder, "third.dump");
  await run(["dump", third], env("back"));

  const [one, two, three] = [await hashesOf(first), await hashesOf(second), await hashesOf(third)];
  expect(one.size).toBeGreaterThan(35);
  // A restore ends the keys that sign tokens.
  const withoutKeys = (hashes: ReadonlyMap<string, string>) =>
    new Map([...hashes].filter(([name]) => name !== "signing_keys"));
  expect(withoutKeys(two)).toEqual(withoutKeys(one));
  expect(three).toEqual(two);
  for (const environment of [env("on-15", postgres.url()), env("back")]) {
    const again = await serveTenantry({ env: environment });
    const answer = await fetch(`${again.url}/iam/v1alpha${org.path}`, {
      headers: { authorization: `Bearer ${operatorKey}` },
    });
    expect(answer.status).toBe(200);
    await again.signal("SIGTERM");
  }
});
