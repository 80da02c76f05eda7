import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDirectory } from "../../src/files/make-directory.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "tenantry-directories-"));
});
afterAll(() => rm(root, { recursive: true }));

test("makes a directory and those above it, with their mode", async () => {
  expect(await makeDirectory(join(root, "a/b/c"), 0o700)).toBe(true);
  expect((await stat(join(root, "a"))).mode & 0o777).toBe(0o700);
  expect((await stat(join(root, "a/b/c"))).mode & 0o777).toBe(0o700);
});

test("leaves a directory that is there as it is, also when many make it at once", async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => makeDirectory(join(root, "d/e"))));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(await makeDirectory(join(root, "d"))).toBe(false);
});

test.each([
  ["at its place", "file", "EEXIST"],
  ["above it", "file/below/it", "ENOTDIR"],
])("fails where a file is %s", async (_where, path, code) => {
  await writeFile(join(root, "file"), "");
  await expect(makeDirectory(join(root, path))).rejects.toMatchObject({ code });
});

test.skipIf(!existsSync("/proc/self"))(
  "ends where the file system takes no directories and says that it has none",
  async () => {
    await expect(makeDirectory("/proc/tenantry")).rejects.toMatchObject({ code: "ENOENT" });
    await expect(makeDirectory("/proc/tenantry/data")).rejects.toMatchObject({ code: "ENOENT" });
  },
);
