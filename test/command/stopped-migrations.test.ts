// Stops the real command while it migrates: here, while it waits for another server that does.
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { makePrivateFolder, runTenantry, startTenantry } from "../support/command.ts";
import { createTestDatabase } from "../support/test-database.ts";

/** Locks the migrations of an empty database, as an earlier version does. */
async function lockEmptyDatabase(): Promise<{
  readonly env: Record<string, string>;
  readonly cwd: string;
  unlock(): Promise<void>;
}> {
  const { url, drop } = await createTestDatabase({ empty: true });
  const { folder, remove } = await makePrivateFolder(undefined);
  const client = new pg.Client({ connectionString: url, application_name: "another server" });
  await client.connect();
  await client.query("select pg_advisory_lock(3853314791062309107)");
  let isOpen = true;
  const unlock = async (): Promise<void> => {
    if (isOpen) await client.end();
    isOpen = false;
  };
  onTestFinished(async () => {
    await unlock();
    await drop();
    await remove();
  });
  return { env: { DATABASE_URL: url, PORT: "0" }, cwd: folder, unlock };
}

test("a server that waits to migrate says for whom, ends at SIGTERM, and leaves the database as it was", async () => {
  const { env, cwd, unlock } = await lockEmptyDatabase();
  const server = startTenantry(["serve"], { env, cwd });
  await expect
    .poll(() => server.output.stdout)
    .toMatch(/waiting for another server that migrates the database: pid \d+ \(another server, /);
  expect(await server.signal("SIGTERM")).toBe(0);
  expect(server.output.stdout).toContain('"msg":"stopped"');
  expect(server.output.stderr).toBe("");

  const command = startTenantry(["migrate"], { env, cwd });
  await expect.poll(() => command.output.stdout).toContain("waiting for another server");
  expect(await command.signal("SIGTERM")).toBe(1);
  expect(command.output.stderr).toBe("stopped by SIGTERM\n");

  await unlock();
  const { code, stdout } = await runTenantry(["migrate"], { env, cwd });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Migrated: 0001-resources, .*\n$/) });
});
