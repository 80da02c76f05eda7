// Tests that a file of a snapshot that is not what was written is not used.
import { randomBytes } from "node:crypto";
import { copyFile, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { readSnapshot } from "../../src/access/snapshots/read-snapshot.ts";
import { required } from "../../src/errors/required.ts";
import { createSealer } from "../../src/identity/sealer.ts";
import { rounds } from "../support/rounds.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { insertOrg } from "./org-rows.ts";
import { type SnapshotDirectory, createSnapshotDirectory, engine, key } from "./snapshot-directory.ts";

let directory: SnapshotDirectory;
beforeEach(async () => {
  directory = await createSnapshotDirectory();
});

describe("a file that is not what was written", () => {
  let orgId: string;
  let file: string;
  let written: Buffer;
  beforeEach(async () => {
    const database = await openTestDatabase();
    orgId = await insertOrg(database, { members: 40, groups: 12 });
    await directory.openFiles().save(required(await readSnapshot(database, orgId, engine)));
    file = join(directory.path, `${orgId}.snapshot`);
    written = await readFile(file);
  });

  const damage = async (content: Buffer, how: string): Promise<void> => {
    await writeFile(file, content, { mode: 0o600 });
    expect(await directory.openFiles().load(orgId), how).toBeUndefined();
    expect(await directory.fileNames()).toEqual([]);
  };

  test("has the mode of a secret, and is loaded as long as it is whole", async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(directory.path)).mode & 0o077).toBe(0);
    expect((await directory.openFiles().load(orgId))?.members.records.count()).toBe(40);
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
    expect(await directory.openFiles(changed).load(orgId)).toBeUndefined();
    expect(await directory.fileNames()).toEqual([]);
  });

  test("is loaded after a new secret key was put in front of the old one", async () => {
    const sealer = createSealer([randomBytes(32), key]);
    expect(await directory.openFiles({ sealer }).load(orgId)).toBeDefined();
  });

  test("is not loaded for another org", async () => {
    const other = orgId.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    await copyFile(file, join(directory.path, `${other}.snapshot`));
    expect(await directory.openFiles().load(other)).toBeUndefined();
    expect(await directory.fileNames()).toEqual([`${orgId}.snapshot`]);
  });

  test("is not used when it is a link or a directory", async () => {
    await rm(file);
    const elsewhere = join(directory.path, "elsewhere");
    await writeFile(elsewhere, written, { mode: 0o600 });
    await symlink(elsewhere, file);
    expect(await directory.openFiles().load(orgId)).toBeUndefined();
    expect(await directory.fileNames()).toEqual(["elsewhere"]);

    await mkdir(file);
    expect(await directory.openFiles().load(orgId)).toBeUndefined();
  });
});
