import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createOperatorKeyFile, operatorKeyFile } from "../../src/installation/operator-key-file.ts";
import { openInstallation } from "../../src/installation/open-installation.ts";
import { openTestDatabase } from "../support/test-database.ts";

let directory = "";
beforeEach(async () => {
  const created = await mkdtemp(join(tmpdir(), "tenantry-test-"));
  directory = created;
  onTestFinished(() => rm(created, { recursive: true, force: true }));
});

const modeOf = async (file: string): Promise<string> => ((await stat(file)).mode & 0o777).toString(8);

describe("the operator's key file", () => {
  test("contains the key and a newline, and only its owner can read it", async () => {
    await createOperatorKeyFile(directory)("tenantry_secret");
    const file = operatorKeyFile(directory);
    expect(file).toBe(join(directory, "operator-key"));
    expect(await readFile(file, "utf8")).toBe("tenantry_secret\n");
    expect(await modeOf(file)).toBe("600");
  });

  test("is created with its directory", async () => {
    const deep = join(directory, "a", "b");
    await createOperatorKeyFile(deep)("tenantry_secret");
    expect(await readFile(operatorKeyFile(deep), "utf8")).toBe("tenantry_secret\n");
  });

  test("replaces the previous file completely, including its mode", async () => {
    const file = operatorKeyFile(directory);
    await writeFile(file, "tenantry_a-much-longer-secret-than-the-new-one\n");
    await chmod(file, 0o644);
    await createOperatorKeyFile(directory)("tenantry_new");
    expect(await readFile(file, "utf8")).toBe("tenantry_new\n");
    expect(await modeOf(file)).toBe("600");
  });

  test("leaves no temporary file", async () => {
    await createOperatorKeyFile(directory)("tenantry_secret");
    expect(await readdir(directory)).toEqual(["operator-key"]);
  });

  test("is readable only by its owner even if the temporary file of an earlier attempt was readable by all", async () => {
    const draft = `${operatorKeyFile(directory)}.${process.pid}`;
    await writeFile(draft, "left over");
    await chmod(draft, 0o644);
    await createOperatorKeyFile(directory)("tenantry_secret");
    expect(await modeOf(operatorKeyFile(directory))).toBe("600");
  });
});

test("a start fails without an installation if the data directory is not writable, and the next start creates one", async () => {
  const database = await openTestDatabase();
  const blocked = join(directory, "data");
  await writeFile(blocked, "a file, where the directory should be");
  await expect(openInstallation(database, createOperatorKeyFile(blocked))).rejects.toThrow("EEXIST");
  expect(await database.reads.selectFrom("customers").selectAll().execute()).toEqual([]);

  await rm(blocked);
  await openInstallation(database, createOperatorKeyFile(blocked));
  expect(await readFile(operatorKeyFile(blocked), "utf8")).toMatch(/^tenantry_[0-9A-Za-z]{50}\n$/);
});
