// Tests when a snapshot in a file is used after a restart, and when not.
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { decide } from "../../src/access/engine/decisions/decide.ts";
import type { OrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { readSnapshot } from "../../src/access/snapshots/read-snapshot.ts";
import { numberOf } from "../../src/changes/revision.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { type AccessPlace, createAccessPlace, startInstance } from "../support/access-place.ts";
import { startFailingDatabase } from "../support/failing-database.ts";
import { startTestServer } from "../support/test-server.ts";
import { type SnapshotDirectory, createSnapshotDirectory, engine, startSnapshots } from "./snapshot-directory.ts";

let directory: SnapshotDirectory;
beforeEach(async () => {
  directory = await createSnapshotDirectory();
});

function open(url: string): Database {
  const database = openDatabase({
    connection: { connectionString: url },
    maxReadConnections: 4,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  onTestFinished(() => database.close());
  return database;
}

interface Place extends AccessPlace {
  readonly database: Database;
  readonly orgId: string;
  /** Reads the org and writes its file. */
  keep(): Promise<OrgSnapshot>;
}

async function createPlace(databaseUrl?: string): Promise<Place> {
  const server = await startTestServer(databaseUrl === undefined ? {} : { databaseUrl });
  onTestFinished(() => server.close());
  const place = await createAccessPlace("REST", server.url, server.operatorKey);
  const database = open(server.databaseUrl);
  const orgId = place.org.id;
  const keep = async (): Promise<OrgSnapshot> => {
    const snapshot = required(await readSnapshot(database, orgId, engine));
    // A decision leaves marks in the tables, with which others would be wrong.
    may(snapshot, place.alice);
    await directory.openFiles().save(snapshot);
    expect(await directory.fileNames()).toEqual([`${orgId}.snapshot`]);
    return snapshot;
  };
  return { ...place, database, orgId, keep };
}

/** Returns whether a member can start instances in the project `web`. */
function may(snapshot: OrgSnapshot, path: string): boolean {
  const { org, members, projects } = snapshot;
  const idOf = (table: typeof members, name: string) => table.idOf(table.find({ by: "name", value: name }));
  const projectId = idOf(projects, "web");
  return decide(snapshot, {
    subject: { kind: "member", id: idOf(members, path.split("/").at(-1) ?? "") },
    permission: startInstance,
    resource: { kind: "project", customerId: org.customerId, orgId: org.id, projectId },
    now: Date.now(),
    conditionContext: undefined,
    counted: "all",
  });
}

describe("after a restart", () => {
  test("an org is loaded from its file, and what has changed since is read from the change log", async () => {
    const { database, orgId, keep, grant, web, alice, sre, bob, api, org } = await createPlace();
    await grant(web, sre, "/roles/admin");
    await keep();
    await grant(org.path, bob, "/roles/admin");
    const carol = await api.members.createMember({ parentPath: org.path, member: { name: "carol" } });
    const { snapshot, isFromFile } = await startSnapshots(database, directory.openFiles()).ask(orgId);
    expect(isFromFile).toBe(true);
    expect([alice, bob, carol.path].map((path) => may(snapshot, path))).toEqual([true, true, false]);
    expect(await directory.fileNames()).toEqual([`${orgId}.snapshot`]);
  });

  test("a right that was revoked meanwhile does not count for the first question", async () => {
    const { database, orgId, keep, grant, web, alice, api } = await createPlace();
    const path = await grant(web, alice, "/roles/admin");
    expect(may(await keep(), alice)).toBe(true);
    await api.roleBindings.deleteRoleBinding({ path });
    const { snapshot, isFromFile } = await startSnapshots(database, directory.openFiles()).ask(orgId);
    expect([isFromFile, may(snapshot, alice)]).toEqual([true, false]);
  });

  test("a file of a history that a failover has lost is not used, also when its numbers are used again", async () => {
    const failing = await startFailingDatabase();
    onTestFinished(() => failing.stop());
    const { database, orgId, keep, grant, web, alice, bob } = await createPlace(failing.url);
    await failing.copy();
    await grant(web, alice, "/roles/admin");
    const lost = await keep();
    await failing.failOver();
    for (let write = 0; write < 2; write++) await grant(web, bob, "/roles/viewer");
    const { snapshot, isFromFile } = await startSnapshots(database, directory.openFiles()).ask(orgId);
    expect(numberOf(snapshot.revision)).toBeGreaterThan(numberOf(lost.revision));
    expect([may(lost, alice), isFromFile, may(snapshot, alice)]).toEqual([true, false, false]);
    await expect.poll(directory.fileNames).toEqual([]);
    expect(directory.logLines.join()).toContain("the change log does not continue there");
  });

  test("a file is not used when the change log has forgotten its revision, or has too many entries since", async () => {
    const { database, orgId, keep, grant, web, bob, api } = await createPlace();
    const { revision } = await keep();
    await sql`delete from changes where org_id = ${orgId} and revision <= ${revision}`.execute(database.writes);
    await grant(web, bob, "/roles/admin");
    const first = await startSnapshots(database, directory.openFiles()).ask(orgId);
    expect([first.isFromFile, may(first.snapshot, bob)]).toEqual([false, true]);
    await expect.poll(directory.fileNames).toEqual([]);

    await keep();
    for (let write = 0; write < 60; write++) {
      await api.members.updateMember({ path: bob, member: { description: `${write}` } });
    }
    expect(await startSnapshots(database, directory.openFiles()).ask(orgId)).toMatchObject({ isFromFile: false });
    await expect.poll(directory.fileNames).toEqual([]);
  });

  test("a file that cannot be advanced keeps no org from being read, and is removed when that was read", async () => {
    const { database, orgId, keep, grant, web, alice } = await createPlace();
    await keep();
    await grant(web, alice, "/roles/admin");
    const files = directory.openFiles();
    const load = async (id: string): Promise<OrgSnapshot | undefined> => {
      const loaded = await files.load(id);
      const advanceTo = (): never => {
        throw new Error("broken");
      };
      return loaded && { ...loaded, advanceTo };
    };
    const { snapshot } = await startSnapshots(database, { ...files, load }).ask(orgId);
    expect(may(snapshot, alice)).toBe(true);
    await expect.poll(directory.fileNames).toEqual([]);
    expect(directory.logLines.join()).toContain("it could not be advanced");
  });

  test("a disk that answers slowly keeps no org from being read, and is left alone for a while", async () => {
    const { database, orgId, keep } = await createPlace();
    await keep();
    const files = directory.openFiles({ maxLoadMs: 1 });
    const slowly = async (id: string): Promise<OrgSnapshot | undefined> => {
      const loading = files.load(id);
      await nextTurn();
      // What the disk answers meanwhile comes after the timer.
      for (const end = performance.now() + 20; performance.now() < end;);
      return loading;
    };
    const { ask } = startSnapshots(database, { ...files, load: slowly });
    expect(await ask(orgId)).toMatchObject({ isFromFile: false });
    expect(directory.logLines.join()).toContain("a file took longer than 1 ms to read");
    expect(await files.load(orgId)).toBeUndefined();
    expect(await directory.fileNames()).toEqual([`${orgId}.snapshot`]);
  });
});
