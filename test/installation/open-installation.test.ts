import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { openInstallation, renewOperatorKey } from "../../src/installation/open-installation.ts";
import { authenticateKeys } from "../identity/authenticate-keys.ts";
import { createTestDatabase, openTestDatabase } from "../support/test-database.ts";
import { numbersOf } from "../support/revisions.ts";

/** Stores keys in memory. */
function createKeyStore() {
  const secrets: string[] = [];
  const save = (secret: string): Promise<void> => {
    secrets.push(secret);
    return Promise.resolve();
  };
  return { secrets, save };
}

const tables = ["customers", "orgs", "members", "api_keys", "changes", "installation"] as const;

async function countRows(database: Database): Promise<Record<string, number>> {
  const counts: [string, number][] = [];
  for (const table of tables) {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from ${sql.table(table)}`.execute(
      database.reads,
    );
    counts.push([table, rows[0]?.count ?? -1]);
  }
  return Object.fromEntries(counts);
}

const empty = { customers: 0, orgs: 0, members: 0, api_keys: 0, changes: 0, installation: 0 };
const made = { customers: 1, orgs: 1, members: 1, api_keys: 1, changes: 6, installation: 1 };

const callerOf = (database: Database, secret: string) => authenticateKeys(database)(`Bearer ${secret}`, null);

describe("the first start", () => {
  test("creates the org system with the operator, and returns the operator's key", async () => {
    const database = await openTestDatabase();
    const { secrets, save } = createKeyStore();
    const installation = await openInstallation(database, save);
    expect(secrets).toHaveLength(1);
    expect(await callerOf(database, secrets[0] ?? "")).toMatchObject({
      memberId: installation.operatorId,
      orgId: installation.systemOrgId,
    });
    const member = await database.reads.selectFrom("members").selectAll().executeTakeFirstOrThrow();
    expect(member).toMatchObject({
      id: installation.operatorId,
      name: "operator",
      type: "APPLICATION",
      state: "ACTIVE",
    });
    const org = await database.reads.selectFrom("orgs").selectAll().executeTakeFirstOrThrow();
    expect(org).toMatchObject({ id: installation.systemOrgId, name: "system", state: "ACTIVE" });
    expect(numbersOf([org])).toEqual([5]);
    expect(installation.pageTokenKey).toHaveLength(32);
    expect(await countRows(database)).toEqual(made);
  });

  test("records everything in the change log, without the key", async () => {
    const database = await openTestDatabase();
    const { secrets, save } = createKeyStore();
    await openInstallation(database, save);
    const changes = await database.reads
      .selectFrom("changes")
      .selectAll()
      .orderBy("time")
      .orderBy("revision")
      .orderBy("position")
      .execute();
    expect(changes.map((change) => [...numbersOf([change]), change.resource_type, change.resource_path])).toEqual([
      [1, "Customer", "/customers/system"],
      [1, "Org", "/orgs/system"],
      [2, "Member", "/orgs/system/members/operator"],
      [3, "ApiKey", "/orgs/system/members/operator/apiKeys/first"],
      [4, "RoleBinding", expect.stringMatching(/^\/roleBindings\/operator-[0-9a-f]{12}$/)],
      [5, "Client", "/orgs/system/clients/command-line"],
    ]);
    // Each entry has a hash of its own, over nothing that is secret.
    const text = JSON.stringify(changes.map(({ hash, ...rest }) => ({ ...rest, isHashed: hash !== null })));
    expect(text).not.toContain(secrets[0]);
    expect(text).not.toContain('"hash');
  });

  test("of ten servers at once creates one installation and one valid key", async () => {
    const { url, drop } = await createTestDatabase();
    const servers = Array.from({ length: 10 }, () =>
      openDatabase({
        connection: { connectionString: url },
        maxReadConnections: 1,
        maxWriteConnections: 1,
        onConnectionError: () => {},
      }),
    );
    const { secrets, save } = createKeyStore();
    const installations = await Promise.all(
      servers.map((server) =>
        openInstallation(server, async (secret) => {
          await sleep(20);
          await save(secret);
        }),
      ),
    );
    expect(new Set(installations.map((installation) => JSON.stringify(installation))).size).toBe(1);
    expect(secrets).toHaveLength(1);
    const [server] = servers as [Database];
    expect(await countRows(server)).toEqual(made);
    expect(await callerOf(server, secrets[0] ?? "")).toMatchObject({ memberId: installations[0]?.operatorId });
    await Promise.all(servers.map((each) => each.close()));
    await drop();
  });

  test("that cannot store the key leaves the database empty, and the next one succeeds", async () => {
    const database = await openTestDatabase();
    const fails = openInstallation(database, () => Promise.reject(new Error("the disk is full")));
    await expect(fails).rejects.toThrow("the disk is full");
    expect(await countRows(database)).toEqual(empty);
    const { secrets, save } = createKeyStore();
    await openInstallation(database, save);
    expect(await countRows(database)).toEqual(made);
    await expect(callerOf(database, secrets[0] ?? "")).resolves.toBeDefined();
  });

  test("stores the key before it becomes valid", async () => {
    const database = await openTestDatabase();
    let whenSaved: Record<string, number> = {};
    await openInstallation(database, async () => {
      whenSaved = await countRows(database);
    });
    expect(whenSaved).toEqual(empty);
  });
});

describe("a later start", () => {
  test("finds the same installation and returns no key", async () => {
    const database = await openTestDatabase();
    const { secrets, save } = createKeyStore();
    const first = await openInstallation(database, save);
    const second = await openInstallation(database, save);
    expect(second).toEqual(first);
    expect(secrets).toHaveLength(1);
    expect(await countRows(database)).toEqual(made);
  });

  test("leaves the client of the command line deleted, and names one that it has to create otherwise if its name is taken", async () => {
    const database = await openTestDatabase();
    const { save } = createKeyStore();
    const first = await openInstallation(database, save);
    const { writes } = database;
    await sql`update clients set id = gen_random_uuid()`.execute(writes);
    expect(await openInstallation(database, save)).toEqual(first);
    await sql`update installation set command_line_client_id = null`.execute(writes);
    const { commandLineClientId } = await openInstallation(database, save);
    expect(commandLineClientId).not.toBe(first.commandLineClientId);
    const clients = await database.reads.selectFrom("clients").select(["id", "name"]).orderBy("name").execute();
    expect(clients).toEqual([
      { id: expect.any(String), name: "command-line" },
      { id: commandLineClientId, name: expect.stringMatching(/^command-line-[0-9a-f]{12}$/) },
    ]);
  });
});

describe("a renewed operator key", () => {
  test("is valid in addition to the first one", async () => {
    const database = await openTestDatabase();
    const { secrets, save } = createKeyStore();
    const installation = await openInstallation(database, save);
    secrets.push(await renewOperatorKey(database, installation, "second"));
    const callers = await Promise.all(secrets.map((secret) => callerOf(database, secret)));
    expect(callers.map((caller) => caller.memberId)).toEqual([installation.operatorId, installation.operatorId]);
    expect(new Set(callers.map((caller) => caller.credentialId)).size).toBe(2);
    expect(await countRows(database)).toEqual({ ...made, api_keys: 2, changes: 7 });
  });
});
