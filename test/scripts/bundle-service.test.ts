import { appendFile, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findProgram } from "../../bin/find-program.js";

const checkout = join(import.meta.dirname, "../..");

test("the commands that tests run start from a bundle of the sources as they are", () => {
  expect(relative(checkout, findProgram(checkout, "service"))).toMatch(/^build\/[\d-]+\/main\.js$/);
});

test("a server that starts loads no command but what describes it", async () => {
  const { service } = JSON.parse(await readFile(join(checkout, "build/manifest.json"), "utf8")) as {
    service: string[];
  };
  expect(service).toEqual(expect.arrayContaining(["src/main.ts", "src/server.ts"]));
  expect(service.filter((path) => path.startsWith("src/cli/"))).toEqual([
    "src/cli/dump/dump-commands.ts",
    "src/cli/import-command.ts",
    "src/cli/verify-command.ts",
  ]);
});

describe("with a bundle, tenantry runs", () => {
  let root: string;
  const write = async (path: string, text = "// nothing"): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  const note = async (...paths: readonly string[]): Promise<void> => {
    const stats = await Promise.all(paths.map((path) => stat(join(root, path))));
    const files = Object.fromEntries(paths.map((path, index) => [path, [stats[index]?.size, stats[index]?.mtimeMs]]));
    await write("build/manifest.json", JSON.stringify({ program: "build/1/main.js", files }));
  };
  const program = (): string => relative(root, findProgram(root, "service"));

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "tenantry-program-"));
    for (const path of ["src/main.ts", "src/server.ts", "build/1/main.js"]) await write(path);
    await note("src/main.ts", "src/server.ts");
  });
  afterEach(() => rm(root, { recursive: true }));

  test("the bundle while nothing changes", () => {
    expect(program()).toBe("build/1/main.js");
  });

  test("the sources when one of them has another size", async () => {
    const { atime, mtime } = await stat(join(root, "src/server.ts"));
    await appendFile(join(root, "src/server.ts"), " else");
    await utimes(join(root, "src/server.ts"), atime, mtime);
    expect(program()).toBe("src/main.ts");
  });

  test("the sources when one of them has changed at the same size", async () => {
    await utimes(join(root, "src/server.ts"), new Date(), new Date(Date.now() + 1000));
    expect(program()).toBe("src/main.ts");
  });

  test.each(["src/server.ts", "build/1/main.js", "build/manifest.json"])("the sources without %s", async (path) => {
    await rm(join(root, path));
    expect(program()).toBe("src/main.ts");
  });

  test.each(["", "{", "null", "{}"])("the sources when the manifest is %j", async (text) => {
    await write("build/manifest.json", text);
    expect(program()).toBe("src/main.ts");
  });

  test("the bundle of the npm package, which has neither", async () => {
    await rm(join(root, "src"), { recursive: true });
    await write("dist/service/main.js");
    expect(program()).toBe("dist/service/main.js");
    await write("dist/command-line.js");
    expect(relative(root, findProgram(root, "command line"))).toBe("dist/command-line.js");
  });
});
