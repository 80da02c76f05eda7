// What a checkout says after `npm ci --omit=dev`, which leaves out what it is built from.
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/** Makes Node.js say that it is an older one. */
const older =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})';

let checkout: string;
beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), "tenantry-checkout-"));
  for (const each of ["bin", "gen", "package.json", "scripts", "src"]) {
    await cp(join(root, each), join(checkout, each), {
      recursive: true,
      filter: (path) => !path.includes("node_modules"),
    });
  }
});
afterAll(() => rm(checkout, { recursive: true, force: true }));

test.each([
  [
    "an older Node.js",
    ["--import", older],
    "Nothing is built, since that needs Node.js 22.18 or newer, and this is 20.20.2.",
  ],
  ["a Node.js that builds", [], "The dependencies of development are left out, so nothing is built"],
])("the build says with a sentence what is left out, with %s", async (_, options, sentence) => {
  const { stdout, stderr } = await run(process.execPath, [...options, join(checkout, "scripts/prepare.js")]);
  expect(stdout.trim().split("\n")).toEqual([expect.stringContaining(sentence)]);
  expect(stderr).toBe("");
});

test.each(["serve", "list"])("the command %s says what to run", async (command) => {
  const ran = run(process.execPath, [join(checkout, "bin/tenantry.js"), command]);
  await expect(ran).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^tenantry does not start from this checkout: .* Run "npm ci", without --omit=dev; .*\n$/,
    ) as string,
  });
});
