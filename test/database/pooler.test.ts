// Tests the service behind PgBouncer, which gives each transaction any of a few connections.
import { expect, onTestFinished, test } from "vitest";
import { sql } from "kysely";
import { openForMigration } from "../../src/database/database.ts";
import { migrations } from "../../src/database/migrations/all.ts";
import { migrate } from "../../src/database/migrate.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { createBeforeEnd } from "../support/create-before-end.ts";
import { hasPgBouncer, keepsStatements, startPgBouncer } from "../support/pgbouncer.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { issuer, startTestServer } from "../support/test-server.ts";
import { watchLog } from "../support/watch-log.ts";

async function startPooled(connections: number, keptStatements = 0): Promise<string> {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  return startPgBouncer(url, connections, keptStatements);
}

// CI has PgBouncer. The one of Debian 12 keeps no statements.
const modes = [...(hasPgBouncer ? (["off"] as const) : []), ...(keepsStatements ? (["pooled"] as const) : [])];
if (!keepsStatements)
  console.warn("SKIPPED: PgBouncer 1.21 or newer is not installed; no test keeps statements behind it");

test.for(modes)(
  "two servers share five connections of a pooler, with prepared statements %s",
  async (preparedStatements) => {
    const databaseUrl = await startPooled(5, preparedStatements === "pooled" ? 100 : 0);
    // A write may look something up on another connection, so writes must leave one.
    const settings = { databaseUrl, issuer, preparedStatements, writeConnections: 2, purgeIntervalMs: 100 };
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
        Array.from({ length: 12 }, async (_, index) => {
          const member = await writer.members.createMember({ parentPath, member: { name: `member-${index}` } });
          expect(await reader.members.getMember({ path: member.path })).toEqual(member);
        }),
      ),
    );
    for (const { path: parentPath } of orgs) {
      const list = { parentPath, filter: 'name = "member-1*"', orderBy: "name desc", pageSize: 2 };
      const first = await reader.members.listMembers(list);
      const second = await reader.members.listMembers({ ...list, pageToken: first.nextPageToken });
      expect([...first.members, ...second.members].map(({ name }) => name)).toEqual([
        "member-11",
        "member-10",
        "member-1",
      ]);
    }
    await useEverything(writer, reader, orgs[0]?.path ?? "");
    expect(
      [...one.logLines, ...other.logLines].filter((line) => (JSON.parse(line) as { level: number }).level >= 40),
    ).toEqual([]);
  },
);

/** Calls whose statements differ: bindings and checks, updates, deletions and what ends, quotas, lists across orgs, the log and a stream of it. */
async function useEverything(writer: Api, reader: Api, parentPath: string): Promise<void> {
  const group = await writer.groups.createGroup({ parentPath, group: { name: "devs" } });
  const memberPath = `${parentPath}/members/member-1`;
  await writer.groupMembers.createGroupMember({ parentPath: group.path, groupMember: { memberPath } });
  await createBeforeEnd((expireTime) =>
    writer.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: { name: uniqueName("devs"), rolePath: "/roles/viewer", subjectPath: group.path, expireTime },
    }),
  );
  const watch = watchLog(reader, { parentPath });
  await watch.until(() => true);
  const project = await writer.projects.createProject({ parentPath, project: { name: "shop" } });
  const renamed = await writer.projects.updateProject({
    path: project.path,
    project: { displayName: "Shop" },
    updateMask: { paths: ["display_name"] },
  });
  expect(await reader.projects.getProject({ path: project.path })).toEqual(renamed);
  await writer.projects.deleteProject({ path: project.path });
  await watch.until(({ event }) => event.case === "change" && event.value.resourceType === "Project");
  const all = await reader.groups.listGroups({ parentPath: "orgs/-" });
  expect(all.groups.map(({ path }) => path)).toContain(group.path);
  await expect
    .poll(async () =>
      (await reader.changes.listChanges({ parentPath, filter: "type = EXPIRED" })).changes.map(
        ({ resourceType }) => resourceType,
      ),
    )
    .toContain("RoleBinding");
  watch.close();
  await watch.ended.catch(() => undefined);
}

// With one connection, only one of two clients that use the same name could prepare a statement.
test.skipIf(!hasPgBouncer).for([1, 3])(
  "a pooler of %i that keeps no statements is refused at the start",
  async (size) => {
    const databaseUrl = await startPooled(size);
    const error: unknown = await startTestServer({ databaseUrl, preparedStatements: "pooled" }).then(
      (server) => server.close(),
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      message: "Cannot use the database in DATABASE_URL.",
      cause: {
        message:
          "a pooler in front of the database keeps no prepared statements: set max_prepared_statements of PgBouncer 1.21 or newer, or TENANTRY_PREPARED_STATEMENTS=off",
      },
    });
  },
);

test.skipIf(!hasPgBouncer)("migrations go past a pooler to the same database", async () => {
  const { url, drop } = await createTestDatabase({ empty: true });
  onTestFinished(drop);
  const databaseUrl = await startPgBouncer(url, 4);
  const server = await startTestServer({
    databaseUrl,
    migrationDatabaseUrl: url,
    preparedStatements: "off",
    writeConnections: 2,
  });
  onTestFinished(() => server.close());
  const api = createApi("gRPC", server.url, server.operatorKey);
  await api.orgs.createOrg({ org: { name: "acme" } });
});

test.skipIf(!hasPgBouncer)(
  "a pooler that refuses settings of connections ends the start, with what to set",
  async () => {
    const start = startTestServer({ databaseUrl: await startPooled(1), preparedStatements: "on" });
    await expect(start).rejects.toMatchObject({
      message: "Cannot use the database in DATABASE_URL.",
      cause: {
        message: expect.stringMatching(
          /^a pooler in front of the database refuses settings of connections \(unsupported startup parameter.*\); set TENANTRY_PREPARED_STATEMENTS to pooled, or to off if it knows no prepared statements$/,
        ) as string,
      },
    });
  },
);

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
