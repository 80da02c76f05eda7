// Tests a server that starts again and has the snapshot of a large org in a file.
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../../src/config.ts";
import { snapshotDirectory } from "../../src/installation/start-snapshots.ts";
import { createAccessClient, createAccessPlace, startInstance as permission } from "../support/access-place.ts";
import { createApi } from "../support/api.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { startTestServer } from "../support/test-server.ts";

const memberCount = 20_000;

/** Adds members to a group, past the service: it would take long. */
async function addMembers(client: pg.Client, orgId: string, groupName: string): Promise<void> {
  await client.query(
    `with added as (
      insert into members (customer_id, org_id, id, type, state, name, display_name, description, labels, changed_revision)
      select orgs.customer_id, orgs.id, gen_random_uuid(), 'USER', 'ACTIVE', 'member-' || n, '', '', '{}', gen_random_uuid()
      from orgs, generate_series(1, ${memberCount}) as n where orgs.id = $1 returning id
    )
    insert into group_members (customer_id, org_id, group_id, member_id, changed_revision)
    select groups.customer_id, groups.org_id, groups.id, added.id, gen_random_uuid() from added, groups where groups.org_id = $1 and groups.name = $2`,
    [orgId, groupName],
  );
  // Otherwise the memberships of other orgs are looked for in all of the table.
  await client.query("analyze group_members");
}

/** Returns how many memberships have been read. Connections tell when they end, so this waits until all others have. */
async function countRead(client: pg.Client): Promise<number> {
  const others = "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
  await expect.poll(async () => (await client.query(others)).rowCount).toBe(0);
  const { rows } = await client.query<{ count: number }>(
    "select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_user_tables where relname = 'group_members'",
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
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const start = (changed: Partial<Config> = {}) =>
    startTestServer({ databaseUrl: url, dataDirectory, secretKeysFile, ...changed });
  const files = () => readdir(snapshotDirectory(dataDirectory)).catch(() => []);

  // Another server, with other files.
  const other = await startTestServer({ databaseUrl: url, secretKeysFile });
  const key = other.operatorKey;
  const { org, web, alice, bob, sre, grant } = await createAccessPlace("Connect", other.url, key);
  await addMembers(client, org.id, "sre");
  await grant(web, sre, "/roles/admin");
  const path = await grant(web, bob, "/roles/admin");
  await other.close();

  const ask = async (server: { readonly url: string }): Promise<boolean[]> => {
    const access = createAccessClient("Connect", server.url, key);
    const subjects = [alice, bob, `${org.path}/members/member-777`];
    const answers = subjects.map((subjectPath) => access.checkAccess({ subjectPath, permission, resourcePath: web }));
    return (await Promise.all(answers)).map(({ allowed }) => allowed);
  };
  /** Starts a server, asks it, and returns the answers and how many memberships it has read. */
  const askNew = async (changed: Partial<Config> = {}) => {
    const before = await countRead(client);
    const server = await start(changed);
    const answers = await ask(server);
    await server.close();
    return { answers, read: (await countRead(client)) - before };
  };

  const first = await askNew();
  expect(first).toMatchObject({ answers: [true, true, true] });
  expect(first.read).toBeGreaterThanOrEqual(memberCount);
  expect(await files()).toEqual([`${org.id}.snapshot`]);

  const revoking = await startTestServer({ databaseUrl: url, secretKeysFile });
  await createApi("Connect", revoking.url, key).roleBindings.deleteRoleBinding({ path });
  await revoking.close();
  const second = await askNew();
  expect(second).toMatchObject({ answers: [true, false, true] });
  expect(second.read).toBeLessThan(memberCount / 10);
  expect(await files()).toEqual([`${org.id}.snapshot`]);

  const without = await askNew({ accessDiskBytes: 0 });
  expect(without).toMatchObject({ answers: [true, false, true] });
  expect(without.read).toBeGreaterThanOrEqual(memberCount);
});
