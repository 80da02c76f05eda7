// Tests a server that starts again and has the snapshot of a large org in a file.
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../../src/config.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { snapshotDirectory } from "../../src/installation/start-snapshots.ts";
import { createAccessClient, createAccessPlace, startInstance as permission } from "../support/access-place.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { startTestServer } from "../support/test-server.ts";

const memberCount = 20_000;

/** Adds members to a group, past the service: it would take long. */
async function addMembers({ writes }: Database, orgId: string, groupName: string): Promise<void> {
  await sql`
    with added as (
      insert into members (org_id, id, type, state, name, display_name, description, labels, changed_revision)
      select ${orgId}, gen_random_uuid(), 'USER', 'ACTIVE', 'member-' || n, '', '', '{}', gen_random_uuid()
      from generate_series(1, ${memberCount}::int) as n returning id
    )
    insert into group_members (org_id, group_id, member_id, changed_revision)
    select ${orgId}, groups.id, added.id, gen_random_uuid() from added, groups
    where groups.org_id = ${orgId} and groups.name = ${groupName}`.execute(writes);
}

/** Returns how many rows of memberships have been read, once the connections that read them have ended. */
async function countRead({ reads }: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_user_tables where relname = 'group_members'`.execute(
    reads,
  );
  return rows[0]?.count ?? 0;
}

test("the first answer after a restart needs no rows of a large org, and knows what was revoked meanwhile", async () => {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  const dataDirectory = await mkdtemp(join(tmpdir(), "tenantry-restart-"));
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }));
  const secretKeysFile = join(dataDirectory, "keys");
  await writeFile(secretKeysFile, `${randomBytes(32).toString("base64")}\n`);
  const database = openDatabase({
    connection: { connectionString: url },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  onTestFinished(() => database.close());
  const start = (changed: Partial<Config> = {}) =>
    startTestServer({ databaseUrl: url, dataDirectory, secretKeysFile, ...changed });
  const files = () => readdir(snapshotDirectory(dataDirectory)).catch(() => []);

  // Another server, with other files.
  const other = await startTestServer({ databaseUrl: url, secretKeysFile });
  onTestFinished(() => other.close());
  const place = await createAccessPlace("Connect", other.url, other.operatorKey);
  const { org, web, alice, bob, sre, grant, api } = place;
  await addMembers(database, org.id, "sre");
  await grant(web, sre, "/roles/admin");
  const path = await grant(web, bob, "/roles/admin");

  const ask = async (server: { readonly url: string }): Promise<boolean[]> => {
    const client = createAccessClient("Connect", server.url, other.operatorKey);
    const subjects = [alice, bob, `${org.path}/members/member-777`];
    const answers = subjects.map((subjectPath) => client.checkAccess({ subjectPath, permission, resourcePath: web }));
    return (await Promise.all(answers)).map(({ allowed }) => allowed);
  };
  /** Starts a server, asks it, and returns the answers and how many memberships it has read. */
  const askNew = async (changed: Partial<Config> = {}) => {
    const before = await countRead(database);
    const server = await start(changed);
    const answers = await ask(server);
    await server.close();
    await database.reads.executeQuery(sql`select pg_stat_clear_snapshot()`.compile(database.reads));
    await new Promise((resolve) => setTimeout(resolve, 500));
    return { answers, read: (await countRead(database)) - before };
  };

  const first = await askNew();
  expect(first).toMatchObject({ answers: [true, true, true] });
  expect(first.read).toBeGreaterThanOrEqual(memberCount);
  expect(await files()).toEqual([`${org.id}.snapshot`]);

  await api.roleBindings.deleteRoleBinding({ path });
  const second = await askNew();
  expect(second).toMatchObject({ answers: [true, false, true] });
  expect(second.read).toBeLessThan(memberCount / 10);
  expect(await files()).toEqual([`${org.id}.snapshot`]);

  const without = await askNew({ accessDiskBytes: 0 });
  expect(without).toMatchObject({ answers: [true, false, true] });
  expect(without.read).toBeGreaterThanOrEqual(memberCount);
});
