// Tests the service behind PgBouncer, which gives each transaction any of a few connections.
import { expect, onTestFinished, test } from "vitest";
import { checkServer, openDatabase } from "../../src/database/database.ts";
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
