// Tests when snapshots are written to files, and which files are kept.
import { execFile } from "node:child_process";
import { stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { sql } from "kysely";
import pino from "pino";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { applyEntry } from "../../src/access/engine/loading/apply-entry.ts";
import type { OrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { readSnapshot } from "../../src/access/snapshots/read-snapshot.ts";
import { numberOf } from "../../src/changes/revision.ts";
import { required } from "../../src/errors/required.ts";
import { createSnapshotFilesJob } from "../../src/jobs/snapshot-files-job.ts";
import { sampleRevision } from "../support/revisions.ts";
import { rounds } from "../support/rounds.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { compareVariables } from "./engine/compare-variables.ts";
import { fromCopy, leftOut, takeCopy } from "./engine/copy-snapshot.ts";
import { insertOrg } from "./org-rows.ts";
import { type SnapshotDirectory, createSnapshotDirectory, engine, startSnapshots } from "./snapshot-directory.ts";

let directory: SnapshotDirectory;
beforeEach(async () => {
  directory = await createSnapshotDirectory();
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
      applyEntry(purged, change);
      purged.advanceTo(sampleRevision(start + index + 1));
    };
    const files = directory.openFiles();
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
    // How many there are while the file is written is a matter of speed.
    expect(made).toBeGreaterThan(included);
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
    expect(() => applyEntry(snapshot, change)).toThrow("a name must not be empty");
    await directory.openFiles().save(snapshot);
    expect(await directory.fileNames()).toEqual([]);
  });

  test("can be given up, and leaves nothing", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20, groups: 5 });
    let asked = 0;
    await directory.openFiles().save(required(await readSnapshot(database, orgId, engine)), () => ++asked > 5);
    expect(await directory.fileNames()).toEqual([]);
  });

  test("that fails is logged once, and fails nothing else", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20, groups: 5 });
    const blocked = join(directory.path, "file", "snapshots");
    await writeFile(join(directory.path, "file"), "");
    const { ask, files, snapshots } = startSnapshots(database, directory.openFiles({ directory: blocked }));
    // Without entries in the change log, the org is read again for each question.
    const { snapshot } = await ask(orgId);
    const logger = pino({ level: "info" }, { write: (line: string) => void directory.logLines.push(line) });
    const job = createSnapshotFilesJob({ database, snapshots, files, intervalMs: 3_600_000, closeMs: 0, logger });
    onTestFinished(() => job.close());
    for (let round = 0; round < 3; round++) {
      await job.runOnce();
      await files.save(snapshot);
      expect((await ask(orgId)).snapshot.members.records.count()).toBe(20);
    }
    expect(directory.logLines).toHaveLength(1);
    expect(directory.logLines[0]).toContain("failed to keep access snapshots in files");
  });

  test("on a full disk is logged once, and leaves nothing", async () => {
    // A limit of the size of files stands for the end of the disk.
    const command = 'ulimit -f 100 && exec "$0" "$@"';
    const script = join(import.meta.dirname, "save-often.ts");
    const { stdout } = await promisify(execFile)("bash", ["-c", command, process.execPath, script, directory.path]);
    expect(stdout.trim().split("\n")).toEqual([expect.stringMatching(/only \d+ of \d+ bytes were written/)]);
    expect(await directory.fileNames()).toEqual([]);
  });

  test("by two servers at once leaves one whole file", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 2_000, groups: 50 });
    const servers = [directory.openFiles(), directory.openFiles(), directory.openFiles()];
    const snapshots = await Promise.all(
      servers.map(async (files) => ({ files, snapshot: required(await readSnapshot(database, orgId, engine)) })),
    );
    for (let round = 0; round < rounds(3, 100); round++) {
      await Promise.all([
        ...snapshots.map(({ files, snapshot }) => files.save(snapshot)),
        ...snapshots.map(({ files }) => files.load(orgId)),
      ]);
      expect(await directory.fileNames()).toEqual([`${orgId}.snapshot`]);
    }
    expect((await directory.openFiles().load(orgId))?.members.records.count()).toBe(2_000);
    expect(directory.logLines).toEqual([]);
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
    await directory.openFiles().save(first);
    const { size } = await stat(join(directory.path, names[0] ?? ""));
    // Room for one file besides the one that is written.
    const files = directory.openFiles({ maxBytes: first.bytes + size * 1.5 });
    await files.save(second);
    const longAgo = new Date(1e12);
    for (const name of names.slice(0, 2)) await utimes(join(directory.path, name), longAgo, longAgo);
    // The first one is used.
    expect(await files.load(orgs[0] as string)).toBeDefined();
    await files.save(third);
    expect(await directory.fileNames()).toEqual(names.toSpliced(1, 1).toSorted());

    await directory.openFiles({ maxBytes: size / 4 }).save(second);
    expect(await directory.fileNames()).toEqual(names.toSpliced(1, 1).toSorted());
  });

  test("of orgs that are gone are removed, and so are those that a crash left unfinished", async () => {
    const database = await openTestDatabase();
    const [kept, gone] = [
      await insertOrg(database, { members: 20, groups: 5 }),
      await insertOrg(database, { members: 20, groups: 5 }),
    ];
    const { files, snapshots } = startSnapshots(database, directory.openFiles());
    for (const orgId of [kept, gone]) await files.save(required(await readSnapshot(database, orgId, engine)));
    const names = [`${kept}.snapshot`, `${gone}.snapshot`].toSorted();
    await writeFile(join(directory.path, "notes.txt"), "not ours");
    for (const [draft, age] of [
      ["old", 3_600_000],
      ["new", 0],
    ] as const) {
      const path = join(
        directory.path,
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
    expect(await directory.fileNames()).toEqual([...names, draft, "notes.txt"].toSorted());

    await sql`set session_replication_role = replica; delete from orgs where id = ${sql.lit(gone)}`.execute(
      database.writes,
    );
    await job.runOnce();
    expect(await directory.fileNames()).toEqual([`${kept}.snapshot`, draft, "notes.txt"].toSorted());
  });

  test("are removed when there are to be none", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20, groups: 5 });
    const snapshot = required(await readSnapshot(database, orgId, engine));
    await directory.openFiles().save(snapshot);
    const files = directory.openFiles({ maxBytes: 0 });
    expect([await files.load(orgId), files.isDue(snapshot)]).toEqual([undefined, false]);
    await files.tidy(new Set([orgId]), new Set());
    expect(await directory.fileNames()).toEqual([]);
  });

  test("are due when there is none, and again after enough changes and time", async () => {
    const database = await openTestDatabase();
    const orgId = await insertOrg(database, { members: 20, groups: 5 });
    const snapshot = required(await readSnapshot(database, orgId, engine));
    const files = directory.openFiles();
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
