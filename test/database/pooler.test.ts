// Tests the service behind PgBouncer, which gives each transaction any of a few connections.
import { expect, onTestFinished, test } from "vitest";
import { sql } from "kysely";
import { checkServer, openDatabase, openForMigration } from "../../src/database/database.ts";
import { migrations } from "../../src/database/migrations/all.ts";
import { migrate } from "../../src/database/migrate.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { hasPgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { startTestServer } from "../support/test-server.ts";

async function startPooled(connections: number): Promise<string> {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  return startPgBouncer(url, connections);
}

// CI has PgBouncer.
test.skipIf(!hasPgBouncer)("two servers share five connections of a pooler", async () => {
  const databaseUrl = await startPooled(5);
  // A write may look something up on another connection, so writes must leave one.
  const settings = { databaseUrl, prepareStatements: false, writeConnections: 2 };
  const one = await startTestServer(settings);
  onTestFinished(() => one.close());
  const other = await startTestServer(settings);
  onTestFinished(() => other.close());
  const writer = createApi("gRPC", one.url, one.operatorKey);
  const reader = createApi("REST", other.url, one.operatorKey);
  const orgs = await Promise.all(
    Array.from({ length: 4 }, () => writer.orgs.createOrg({ org: { name: uniqueName("acme") } })),
  );
  await Promise.all(
    orgs.flatMap(({ path: parentPath }) =>
      Array.from({ length: 20 }, async (_, index) => {
        const member = await writer.members.createMember({ parentPath, member: { name: `member-${index}` } });
        expect(await reader.members.getMember({ path: member.path })).toEqual(member);
      }),
    ),
  );
  for (const { path: parentPath } of orgs) {
    const list = { parentPath, filter: 'name = "member-1*"', orderBy: "name desc", pageSize: 5 };
    const first = await reader.members.listMembers(list);
    const second = await reader.members.listMembers({ ...list, pageToken: first.nextPageToken });
    expect([...first.members, ...second.members].map(({ name }) => name)).toEqual(
      ["member-19", "18", "17", "16", "15", "14", "13", "12", "11", "10"].map((end) => `member-${end.slice(-2)}`),
    );
  }
});

test.skipIf(!hasPgBouncer)("a pooler that refuses settings of connections is explained", async () => {
  const database = openDatabase({
    connection: { connectionString: await startPooled(1) },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  onTestFinished(() => database.close());
  await expect(checkServer(database)).rejects.toThrow(
    "a pooler in front of the database refuses settings of connections (unsupported startup parameter: options); set TENANTRY_PREPARED_STATEMENTS=off",
  );
});

test.skipIf(!hasPgBouncer)(
  "migrations behind a pooler leave no lock to its other clients, and each server goes on",
  async () => {
    const { url, drop } = await createTestDatabase({ empty: true });
    onTestFinished(drop);
    const pooled = await startPgBouncer(url, 4);
    const others = openForMigration({ connectionString: pooled });
    onTestFinished(() => others.destroy());
    const stop = new AbortController();
    const busy = Array.from({ length: 3 }, async () => {
      while (!stop.signal.aborted) await sql`select pg_sleep(0.001)`.execute(others);
    });
    const index = {
      createIndexes: [{ name: "members_by_invitation", definition: "on members (invitation_expire_time)" }],
    };
    for (const all of [migrations, { ...migrations, "9000-index": index }]) {
      const servers = [1, 2].map(() => openForMigration({ connectionString: pooled }));
      const migrated = await Promise.all(servers.map((db) => migrate(db, { all })));
      expect(migrated.flatMap(({ applied }) => applied)).toHaveLength(all === migrations ? Object.keys(all).length : 1);
      await Promise.all(servers.map((db) => db.destroy()));
    }
    stop.abort();
    await Promise.all(busy);
    const direct = openForMigration({ connectionString: url });
    onTestFinished(() => direct.destroy());
    const { rows: locks } = await sql`
    select from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`.execute(
      direct,
    );
    expect(locks).toEqual([]);
    const { rows: settings } = await sql<{ lock_timeout: string }>`show lock_timeout`.execute(others);
    expect(settings).toEqual([{ lock_timeout: "0" }]);
  },
);
