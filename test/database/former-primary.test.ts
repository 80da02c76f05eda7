// Tests that nothing is read from a primary after another one was promoted, though it still answers.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { type DebianPostgres, hasDebianPostgres, startDebianPostgres } from "../support/debian-postgres.ts";

test.skipIf(!hasDebianPostgres)("a former primary is left for the promoted one, and refused from then on", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tenantry-former-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const former = await startDebianPostgres(join(folder, "former"));
  onTestFinished(() => former.stop());
  const promoted = await former.startStandby(join(folder, "promoted"));
  onTestFinished(() => promoted.stop());
  // A role that may do nothing but log in.
  await former.query("create role plain login");
  const messages: string[] = [];
  const database = open(former, promoted, messages);
  onTestFinished(() => database.close());
  await expect(portOf(database)).resolves.toBe(former.port);

  await expect.poll(() => promoted.query("select from pg_roles where rolname = 'plain'")).toHaveLength(1);
  await promoted.query("select pg_promote()");
  // Nothing has stopped the former one, and its connections are open: nothing fails.
  await expect.poll(() => portOf(database)).toBe(promoted.port);
  expect(await former.query("select pg_is_in_recovery() as is_standby")).toEqual([{ is_standby: false }]);
  expect(messages).toContain("another server is the primary now, so all connections are opened again");

  await promoted.stop();
  await expect.poll(() => portOf(database)).toMatch(/former primary: it is on timeline 1, and another server .* to 2/);
});

function open(first: DebianPostgres, second: DebianPostgres, messages: string[]): Database {
  const hosts = [first, second].map(({ port }) => `127.0.0.1:${port}`).join(",");
  return openDatabase({
    connection: { connectionString: `postgres://plain@${hosts}/tenantry` },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: (message) => messages.push(message),
  });
}

/** Returns the port of the server that answers a lookup, or why none does. */
async function portOf(database: Database): Promise<unknown> {
  const text = "select inet_server_port() as port";
  return database.readPrepared<{ port: number }>("find_port", text, []).then(
    ([row]) => row?.port,
    (error: Error) => error.message,
  );
}
