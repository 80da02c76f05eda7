// Tests snapshots in files: when they are used, and when not.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { sql } from "kysely";
import pino from "pino";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { decide } from "../../src/access/engine/decisions/decide.ts";
import { applyChange } from "../../src/access/engine/loading/apply-change.ts";
import type { OrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import { type SnapshotFilesOptions, createSnapshotFiles } from "../../src/access/snapshots/files/snapshot-files.ts";
import { readSnapshot } from "../../src/access/snapshots/read-snapshot.ts";
import { numberOf } from "../../src/changes/revision.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { required } from "../../src/errors/required.ts";
import { createSealer } from "../../src/identity/sealer.ts";
import { createSnapshotFilesJob } from "../../src/jobs/snapshot-files-job.ts";
import { type AccessPlace, createAccessPlace, startInstance } from "../support/access-place.ts";
import { startFailingDatabase } from "../support/failing-database.ts";
import { sampleRevision } from "../support/revisions.ts";
import { rounds } from "../support/rounds.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { startTestServer } from "../support/test-server.ts";
import { compareVariables } from "./engine/compare-variables.ts";
import { fromCopy, leftOut, takeCopy } from "./engine/copy-snapshot.ts";
import { insertOrg } from "./org-rows.ts";

const engine = {
  predefinedRoles: {
    admin: { permissions: "*" },
    viewer: { permissions: ["iam.projects.get"] },
  },
  compileCondition: () => () => true,
} as const;

const key = randomBytes(32);
let directory: string;
let logLines: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tenantry-files-"));
  logLines = [];
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
});

/** Opens the files as a server does that starts. */
function openFiles(changed: Partial<SnapshotFilesOptions> = {}) {
  const logger = pino({ level: "info" }, { write: (line: string) => void logLines.push(line) });
  const sealer = createSealer([key]);
  const common = { directory, maxBytes: 1e9, sealer, version: "1", migrations: ["0001"], installation: "here", logger };
  return createSnapshotFiles({ ...engine, ...common, ...changed });
}

/** Starts what a server has: nothing in memory, and the files. */
function startSnapshots(database: Database, files = openFiles()) {
  const loaded: OrgSnapshot[] = [];
  const load = async (orgId: string) => {
    const found = await files.load(orgId);
    if (found !== undefined) loaded.push(found);
    return found;
  };
  const snapshots = createSnapshots({
    ...engine,
    database,
    readConnections: 4,
    maxBytes: Infinity,
    files: { ...files, load },
  });
  return {
    snapshots,
    files,
    /** Returns the snapshot for a question that arrives now, and whether it comes from a file. */
    async ask(orgId: string) {
      const readAt = performance.now();
      const { rows } = await sql<{ revision: string }>`select revision from orgs where id = ${orgId}`.execute(
        database.reads,
      );
      const snapshot = await snapshots.at(orgId, { revision: rows[0]?.revision ?? "", readAt });
      return { snapshot, isFromFile: loaded.includes(snapshot) };
    },
  };
}

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
    await openFiles().save(snapshot);
    expect(await fileNames()).toEqual([`${orgId}.snapshot`]);
    return snapshot;
  };
  return { ...place, database, orgId, keep };
}

const fileNames = async (): Promise<string[]> => (await readdir(directory)).toSorted();

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
    const { snapshot, isFromFile } = await startSnapshots(database).ask(orgId);
    expect(isFromFile).toBe(true);
    expect([alice, bob, carol.path].map((path) => may(snapshot, path))).toEqual([true, true, false]);
    expect(await fileNames()).toEqual([`${orgId}.snapshot`]);
  });

  test("a right that was revoked meanwhile does not count for the first question", async () => {
    const { database, orgId, keep, grant, web, alice, api } = await createPlace();
    const path = await grant(web, alice, "/roles/admin");
    expect(may(await keep(), alice)).toBe(true);
    await api.roleBindings.deleteRoleBinding({ path });
    const { snapshot, isFromFile } = await startSnapshots(database).ask(orgId);
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
    const { snapshot, isFromFile } = await startSnapshots(database).ask(orgId);
    expect(numberOf(snapshot.revision)).toBeGreaterThan(numberOf(lost.revision));
    expect([may(lost, alice), isFromFile, may(snapshot, alice)]).toEqual([true, false, false]);
    await expect.poll(fileNames).toEqual([]);
    expect(logLines.join()).toContain("the change log does not continue there");
  });

  test("a file is not used when the change log has forgotten its revision, or has too many entries since", async () => {
    const { database, orgId, keep, grant, web, bob, api } = await createPlace();
    const { revision } = await keep();
    await sql`delete from changes where org_id = ${orgId} and revision <= ${revision}`.execute(database.writes);
    await grant(web, bob, "/roles/admin");
    const first = await startSnapshots(database).ask(orgId);
    expect([first.isFromFile, may(first.snapshot, bob)]).toEqual([false, true]);
    await expect.poll(fileNames).toEqual([]);

    await keep();
    for (let write = 0; write < 60; write++) {
      await api.members.updateMember({ path: bob, member: { description: `${write}` } });
    }
    expect(await startSnapshots(database).ask(orgId)).toMatchObject({ isFromFile: false });
    await expect.poll(fileNames).toEqual([]);
  });

  test("a file that cannot be advanced keeps no org from being read, and is removed when that was read", async () => {
    const { database, orgId, keep, grant, web, alice } = await createPlace();
    await keep();
    await grant(web, alice, "/roles/admin");
    const files = openFiles();
    const load = async (id: string): Promise<OrgSnapshot | undefined> => {
      const loaded = await files.load(id);
      const advanceTo = (): never => {
        throw new Error("broken");
      };
      return loaded && { ...loaded, advanceTo };
    };
    const { snapshot } = await startSnapshots(database, { ...files, load }).ask(orgId);
    expect(may(snapshot, alice)).toBe(true);
    await expect.poll(fileNames).toEqual([]);
    expect(logLines.join()).toContain("it could not be advanced");
  });

  test("a disk that answers slowly keeps no org from being read, and is left alone for a while", async () => {
    const { database, orgId, keep } = await createPlace();
    await keep();
    const files = openFiles({ maxLoadMs: 1 });
    const slowly = async (id: string): Promise<OrgSnapshot | undefined> => {
      const loading = files.load(id);
      await nextTurn();
      // What the disk answers meanwhile comes after the timer.
      for (const end = performance.now() + 20; performance.now() < end;);
      return loading;
    };
    const { ask } = startSnapshots(database, { ...files, load: slowly });
    expect(await ask(orgId)).toMatchObject({ isFromFile: false });
    expect(logLines.join()).toContain("a file took longer than 1 ms to read");
    expect(await files.load(orgId)).toBeUndefined();
    expect(await fileNames()).toEqual([`${orgId}.snapshot`]);
  });
});

describe("a file that is not what was written", () => {
  let orgId: string;
  let file: string;
  let written: Buffer;
  beforeEach(async () => {
    const database = await openTestDatabase();
    orgId = await insertOrg(database, { members: 40, groups: 12 });
    await openFiles().save(required(await readSnapshot(database, orgId, engine)));
    file = join(directory, `${orgId}.snapshot`);
    written = await readFile(file);
  });

  const damage = async (content: Buffer, how: string): Promise<void> => {
    await writeFile(file, content, { mode: 0o600 });
    expect(await openFiles().load(orgId), how).toBeUndefined();
    expect(await fileNames()).toEqual([]);
  };

  test("has the mode of a secret, and is loaded as long as it is whole", async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o077).toBe(0);
    expect((await openFiles().load(orgId))?.members.records.count()).toBe(40);
    // It has names of neither members nor roles.
    expect(written.includes("member-7") || written.includes("viewer")).toBe(false);
  });

  test("is removed when any of its bits is another one", async () => {
    const random = Array.from({ length: rounds(40, 1_500) }, () => Math.floor(Math.random() * written.length));
    for (const at of [...Array(60).keys(), ...random, written.length - 1]) {
      const content = Buffer.from(written);
      content[at] = (content[at] as number) ^ (1 << (at % 8));
      await damage(content, `bit ${at % 8} of byte ${at}`);
    }
  });

  test("is removed when it ends too early, or too late", async () => {
    const lengths = Array.from({ length: rounds(15, 600) }, () => Math.floor(Math.random() * written.length));
    for (const length of [0, 1, 40, 41, 45, written.length - 1, ...lengths])
      await damage(written.subarray(0, length), `${length} bytes`);
    await damage(Buffer.concat([written, Buffer.of(0)]), "a byte more");
    await damage(Buffer.concat([written, written]), "twice");
  });

  test("is removed when one of its blocks is missing, or is in another place", async () => {
    const blocks: Buffer[] = [];
    for (let at = 41; at < written.length;) {
      const end = at + 4 + written.readUInt32BE(at) + 16;
      blocks.push(written.subarray(at, end));
      at = end;
    }
    expect(blocks.length).toBeGreaterThan(10);
    const header = written.subarray(0, 41);
    for (const index of blocks.keys())
      await damage(Buffer.concat([header, ...blocks.toSpliced(index, 1)]), `without block ${index}`);
    const [first, second, ...others] = blocks as [Buffer, Buffer, ...Buffer[]];
    await damage(Buffer.concat([header, second, first, ...others]), "another order");
  });

  test.each([
    ["another version of the service", { version: "2" }],
    ["another schema", { migrations: ["0001", "0002"] }],
    ["another database", { installation: "there" }],
    ["other predefined roles", { predefinedRoles: { ...engine.predefinedRoles, later: { permissions: [] } } }],
    ["other secret keys", { sealer: createSealer([randomBytes(32)]) }],
  ])("is removed by %s", async (_, changed) => {
    expect(await openFiles(changed).load(orgId)).toBeUndefined();
    expect(await fileNames()).toEqual([]);
  });

  test("is loaded after a new secret key was put in front of the old one", async () => {
    const sealer = createSealer([randomBytes(32), key]);
    expect(await openFiles({ sealer }).load(orgId)).toBeDefined();
  });

  test("is not loaded for another org", async () => {
    const other = orgId.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    await copyFile(file, join(directory, `${other}.snapshot`));
    expect(await openFiles().load(other)).toBeUndefined();
    expect(await fileNames()).toEqual([`${orgId}.snapshot`]);
  });

  test("is not used when it is a link or a directory", async () => {
    await rm(file);
    const elsewhere = join(directory, "elsewhere");
    await writeFile(elsewhere, written, { mode: 0o600 });
    await symlink(elsewhere, file);
    expect(await openFiles().load(orgId)).toBeUndefined();
    expect(await fileNames()).toEqual(["elsewhere"]);

    await mkdir(file);
    expect(await openFiles().load(orgId)).toBeUndefined();
  });
});

describe("writing", () => {
  test("neither waits for changes nor holds them back, and has those before one revision", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20_000, groups: 500 });
    const snapshot = required(await readSnapshot(database, orgId, engine));
    const start = Number(numberOf(snapshot.revision));
    const expected = fromCopy(takeCopy(snapshot), engine);
    const ids = Array.from({ length: 10_000 }, (_, index) => expected.members.idOf(index + 1));
    const purge = (purged: OrgSnapshot, index: number): void => {
      const change = { resource_type: "Member", resource_id: ids[index] ?? "", before: {}, after: null };
      applyChange(purged, change);
      purged.advanceTo(sampleRevision(start + index + 1));
    };
    const files = openFiles();
    const state = { isSaved: false };
    const saving = files.save(snapshot).finally(() => (state.isSaved = true));
    let [made, held] = [0, 0];
    for (; !state.isSaved && made < ids.length; made++) {
      const change = snapshot.readHold.change(() => purge(snapshot, made));
      if (change !== undefined) held++;
      await change;
      await nextTurn();
    }
    await saving;
    const loaded = required(await files.load(orgId));
    const included = Number(numberOf(loaded.revision)) - start;
    expect(made - included).toBeGreaterThan(5);
    // Only while the rows are written.
    expect(held).toBeLessThan(3);
    for (let index = 0; index < included; index++) purge(expected, index);
    expect(compareVariables(expected, loaded, leftOut).differences).toEqual([]);
  });

  test("is left out when a change has failed half-way", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20, groups: 5 });
    const snapshot = required(await readSnapshot(database, orgId, engine));
    const member = { id: snapshot.members.idOf(1), name: "", state: "ACTIVE" };
    const change = { resource_type: "Member", resource_id: member.id, before: null, after: member };
    expect(() => applyChange(snapshot, change)).toThrow("a name must not be empty");
    await openFiles().save(snapshot);
    expect(await fileNames()).toEqual([]);
  });

  test("can be given up, and leaves nothing", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20, groups: 5 });
    let asked = 0;
    await openFiles().save(required(await readSnapshot(database, orgId, engine)), () => ++asked > 5);
    expect(await fileNames()).toEqual([]);
  });

  test("that fails is logged once, and fails nothing else", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20, groups: 5 });
    const blocked = join(directory, "file", "snapshots");
    await writeFile(join(directory, "file"), "");
    const { ask, files, snapshots } = startSnapshots(database, openFiles({ directory: blocked }));
    // Without entries in the change log, the org is read again for each question.
    const { snapshot } = await ask(orgId);
    const logger = pino({ level: "info" }, { write: (line: string) => void logLines.push(line) });
    const job = createSnapshotFilesJob({ database, snapshots, files, intervalMs: 3_600_000, closeMs: 0, logger });
    onTestFinished(() => job.close());
    for (let round = 0; round < 3; round++) {
      await job.runOnce();
      await files.save(snapshot);
      expect((await ask(orgId)).snapshot.members.records.count()).toBe(20);
    }
    expect(logLines).toHaveLength(1);
    expect(logLines[0]).toContain("failed to keep access snapshots in files");
  });

  test("on a full disk is logged once, and leaves nothing", async () => {
    // A limit of the size of files stands for the end of the disk.
    const command = 'ulimit -f 100 && exec "$0" "$@"';
    const script = join(import.meta.dirname, "save-often.ts");
    const { stdout } = await promisify(execFile)("bash", ["-c", command, process.execPath, script, directory]);
    expect(stdout.trim().split("\n")).toEqual([expect.stringMatching(/only \d+ of \d+ bytes were written/)]);
    expect(await fileNames()).toEqual([]);
  });

  test("by two servers at once leaves one whole file", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 2_000, groups: 50 });
    const servers = [openFiles(), openFiles(), openFiles()];
    const snapshots = await Promise.all(
      servers.map(async (files) => ({ files, snapshot: required(await readSnapshot(database, orgId, engine)) })),
    );
    for (let round = 0; round < rounds(3, 100); round++) {
      await Promise.all([
        ...snapshots.map(({ files, snapshot }) => files.save(snapshot)),
        ...snapshots.map(({ files }) => files.load(orgId)),
      ]);
      expect(await fileNames()).toEqual([`${orgId}.snapshot`]);
    }
    expect((await openFiles().load(orgId))?.members.records.count()).toBe(2_000);
    expect(logLines).toEqual([]);
  });
});

describe("the files", () => {
  test("take no more room than they may, and those used last are kept", async () => {
    const database = await openTestDatabase();
    const orgs = await Promise.all([1, 2, 3].map(() => insertOrg(database, { members: 300, groups: 10 })));
    const names = orgs.map((orgId) => `${orgId}.snapshot`);
    const snapshots = await Promise.all(
      orgs.map(async (orgId) => required(await readSnapshot(database, orgId, engine))),
    );
    const [first, second, third] = snapshots as [OrgSnapshot, OrgSnapshot, OrgSnapshot];
    await openFiles().save(first);
    const { size } = await stat(join(directory, names[0] ?? ""));
    // Room for one file besides the one that is written.
    const files = openFiles({ maxBytes: first.bytes + size * 1.5 });
    await files.save(second);
    const longAgo = new Date(1e12);
    for (const name of names.slice(0, 2)) await utimes(join(directory, name), longAgo, longAgo);
    // The first one is used.
    expect(await files.load(orgs[0] as string)).toBeDefined();
    await files.save(third);
    expect(await fileNames()).toEqual(names.toSpliced(1, 1).toSorted());

    await openFiles({ maxBytes: size / 4 }).save(second);
    expect(await fileNames()).toEqual(names.toSpliced(1, 1).toSorted());
  });

  test("of orgs that are gone are removed, and so are those that a crash left unfinished", async () => {
    const database = await openTestDatabase();
    const [kept, gone] = [
      await insertOrg(database, { members: 20, groups: 5 }),
      await insertOrg(database, { members: 20, groups: 5 }),
    ];
    const { files, snapshots } = startSnapshots(database);
    for (const orgId of [kept, gone]) await files.save(required(await readSnapshot(database, orgId, engine)));
    const names = [`${kept}.snapshot`, `${gone}.snapshot`].toSorted();
    await writeFile(join(directory, "notes.txt"), "not ours");
    for (const [draft, age] of [
      ["old", 3_600_000],
      ["new", 0],
    ] as const) {
      const path = join(
        directory,
        `${kept}.snapshot.00000000-0000-4000-8000-${draft === "old" ? "1" : "2"}${"0".repeat(11)}.draft`,
      );
      await writeFile(path, "");
      await utimes(path, new Date(), new Date(Date.now() - age));
    }
    const logger = pino({ level: "silent" });
    const job = createSnapshotFilesJob({ database, snapshots, files, intervalMs: 3_600_000, closeMs: 0, logger });
    onTestFinished(() => job.close());
    await job.runOnce();
    const draft = `${kept}.snapshot.00000000-0000-4000-8000-200000000000.draft`;
    expect(await fileNames()).toEqual([...names, draft, "notes.txt"].toSorted());

    await sql`set session_replication_role = replica; delete from orgs where id = ${sql.lit(gone)}`.execute(
      database.writes,
    );
    await job.runOnce();
    expect(await fileNames()).toEqual([`${kept}.snapshot`, draft, "notes.txt"].toSorted());
  });

  test("are removed when there are to be none", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20, groups: 5 });
    const snapshot = required(await readSnapshot(database, orgId, engine));
    await openFiles().save(snapshot);
    const files = openFiles({ maxBytes: 0 });
    expect([await files.load(orgId), files.isDue(snapshot)]).toEqual([undefined, false]);
    await files.tidy(new Set([orgId]), new Set());
    expect(await fileNames()).toEqual([]);
  });

  test("are due when there is none, and again after enough changes and time", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20, groups: 5 });
    const snapshot = required(await readSnapshot(database, orgId, engine));
    const files = openFiles();
    const interval = { revisions: 5, afterMs: 0, anyAfterMs: 3_600_000 };
    expect(files.isDue(snapshot, interval)).toBe(true);
    await files.save(snapshot);
    expect(files.isDue(snapshot, interval)).toBe(false);
    snapshot.advanceTo(sampleRevision(11));
    expect(files.isDue(snapshot, interval)).toBe(false);
    snapshot.advanceTo(sampleRevision(12));
    expect(files.isDue(snapshot, interval)).toBe(true);
    expect(files.isDue(snapshot, { ...interval, afterMs: 3_600_000 })).toBe(false);
    expect(files.isDue(snapshot, { revisions: 100, afterMs: 3_600_000, anyAfterMs: 0 })).toBe(true);
    // A loaded one is at the revision of its file.
    expect(files.isDue(required(await files.load(orgId)), interval)).toBe(false);
  });
});
