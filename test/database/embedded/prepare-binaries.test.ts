import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

import { describe, expect } from "vitest";

import { prepareBinaries } from "../../../src/database/embedded/prepare-binaries.ts";
import { copyPackage, daemon, isRoot, query, serverPid, test } from "./harness.ts";

describe("the binaries", () => {
  test("get the library links that an install without scripts omits", async ({ scratch }) => {
    const packageDirectory = await copyPackage(path.join(scratch.directory, "package"));
    const many = await Promise.all(
      Array.from({ length: 3 }, () => prepareBinaries(packageDirectory, undefined, []).catch(String)),
    );
    const link = await lstat(path.join(packageDirectory, "native/lib/libpq.so.5"));
    expect(link.isSymbolicLink()).toBe(true);
    const directory = path.join(packageDirectory, "native");
    expect(many).toEqual(Array.from({ length: 3 }, () => ({ directory, version: expect.stringMatching(/^18\./) })));
  });

  test.skipIf(!isRoot)(
    "are copied once from a read-only package, even by two concurrent owners",
    async ({ scratch }) => {
      const packageDirectory = await copyPackage(path.join(scratch.directory, "package"));
      const cacheDirectory = path.join(await scratch.make("home", daemon), "cache");
      const directories = await Promise.all(["a", "b"].map((name) => scratch.makeDatabase(name, daemon)));
      const owners = await Promise.all(
        directories.map((directory) => scratch.start({ directory, packageDirectory, cacheDirectory, user: daemon })),
      );
      expect(await readdir(cacheDirectory)).toEqual([expect.stringMatching(/^postgres-18\..*-linux-/)]);
      await Promise.all(owners.map((owner) => owner.stop()));
      await expect(lstat(path.join(packageDirectory, "native/lib/libpq.so.5"))).rejects.toThrow("ENOENT");
    },
  );

  test.skipIf(!isRoot)("are copied beside the data if the cache directory cannot be created", async ({ scratch }) => {
    const packageDirectory = await copyPackage(path.join(scratch.directory, "package"));
    const directory = await scratch.makeDatabase("data", daemon);
    const closed = path.join(await scratch.make("closed"), "cache");
    await (await scratch.start({ directory, packageDirectory, cacheDirectory: closed, user: daemon })).stop();
    expect((await readdir(directory)).toSorted()).toEqual(["cluster", expect.stringMatching(/^postgres-18\./)]);
  });

  test.skipIf(!isRoot)("are never run from a directory that other users can write to", async ({ scratch }) => {
    const home = await scratch.make("home");
    await chmod(home, 0o700);
    const packageDirectory = await copyPackage(path.join(home, "package"));
    const nobody = { uid: 65534, gid: 65534 };
    const cache = await scratch.make("cache");
    const { directory } = await prepareBinaries(packageDirectory, nobody, [cache]);
    const copy = path.dirname(directory);
    expect((await stat(copy)).uid).toBe(0);
    const untrusted = "must be a directory that this user owns and that no other user can write to";

    await chmod(copy, 0o775);
    await expect(prepareBinaries(packageDirectory, nobody, [cache])).rejects.toThrow(`${copy} ${untrusted}`);
    await chmod(copy, 0o755);
    await chmod(cache, 0o777);
    await expect(prepareBinaries(packageDirectory, nobody, [cache])).rejects.toThrow(`${cache} ${untrusted}`);
    await symlink(cache, path.join(scratch.directory, "link"));
    await expect(prepareBinaries(packageDirectory, nobody, [path.join(scratch.directory, "link")])).rejects.toThrow(
      untrusted,
    );
    const theirs = await scratch.make("theirs", daemon);
    await expect(prepareBinaries(packageDirectory, nobody, [theirs])).rejects.toThrow(`${theirs} ${untrusted}`);
  });
});

describe.skipIf(!isRoot)("below a directory that only root can access", () => {
  test("the server handles recovery and all kinds of work", async ({ scratch }) => {
    const home = await scratch.make("root");
    await chmod(home, 0o700);
    const packageDirectory = await copyPackage(path.join(home, "project/package"));
    const directory = path.join(home, "project/data/postgres");
    const cacheDirectory = path.join(scratch.directory, "var/cache");
    // The permissions that npm creates under the strictest umask: no access for other users.
    execFileSync("find", [packageDirectory, "-type", "d", "-exec", "chmod", "700", "{}", "+"]);
    for (const name of ["postgres", "initdb"]) {
      const program = path.join(packageDirectory, "native/bin", name);
      const bytes = await readFile(program);
      await rm(program);
      await writeFile(program, bytes, { mode: 0o700 });
    }

    const first = await scratch.start({ directory, packageDirectory, cacheDirectory });
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    expect(await readdir(directory)).toEqual(["cluster"]);
    expect(await query(first.connection, "show data_directory")).toEqual([{ data_directory: "/proc/self/cwd" }]);
    const server = await serverPid(directory);
    expect((await stat(`/proc/${server}`)).uid).toBe(65534);

    const { connection } = first;
    await query(connection, "create table t as select x, md5(x::text) y from generate_series(1, 30000) x");
    // Sorts that spill to disk, parallel workers, vacuum, an index, a checkpoint, and copies of the database with both
    // strategies.
    const sorted = await query(
      connection,
      "set work_mem = '64kB'",
      "set min_parallel_table_scan_size = 0",
      "set parallel_setup_cost = 0",
      "set parallel_tuple_cost = 0",
      "explain (analyze, format json) select * from t order by y",
    );
    expect(JSON.stringify(sorted)).toMatch(/"Workers Launched":\s?[1-9]/);
    expect(JSON.stringify(sorted)).toContain('"Sort Space Type":"Disk"');
    await query(connection, "vacuum (analyze) t");
    await query(connection, "create index concurrently on t (y)");
    await query(connection, "alter system set work_mem = '5MB'");
    await query(connection, "select pg_reload_conf()", "select pg_switch_wal()", "checkpoint");
    const maintenance = { ...connection, database: "postgres" };
    await query(maintenance, "create database copied template tenantry strategy file_copy");
    await query(maintenance, "create database logged template tenantry strategy wal_log");
    await query(connection, "insert into t select x, 'late' from generate_series(1, 1000) x");

    await first.kill();
    process.kill(server, "SIGKILL");
    const second = await scratch.start({ directory, packageDirectory, cacheDirectory });
    for (const [database, count] of [
      ["tenantry", 31000],
      ["copied", 30000],
      ["logged", 30000],
    ] as const) {
      expect(await query({ ...connection, database }, "select count(*)::int from t")).toEqual([{ count }]);
    }
    expect(await query(connection, "show work_mem")).toEqual([{ work_mem: "5MB" }]);
    // An orphaned server is found below this directory, too.
    await second.kill();
    await (await scratch.start({ directory, packageDirectory, cacheDirectory })).stop();
  });

  test("the start fails with the reason if there is no place for a copy", async ({ scratch }) => {
    const home = await scratch.make("root");
    await chmod(home, 0o700);
    const packageDirectory = await copyPackage(path.join(home, "package"));
    await mkdir(path.join(home, "data"));
    await expect(
      scratch.start({ directory: path.join(home, "data"), packageDirectory, cacheDirectory: path.join(home, "cache") }),
    ).rejects.toMatchObject({ reason: "BINARIES_UNUSABLE", message: expect.stringContaining("User id 65534 can run") });
    expect(await readdir(path.join(home, "data"))).toEqual([]);
  });
});
