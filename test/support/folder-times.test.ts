import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");

/** A project whose folder `slow` takes a third of a second, in a hook. */
const files: Readonly<Record<string, string>> = {
  "test/slow/one.test.ts": "beforeAll(() => new Promise((done) => setTimeout(done, 300))); test('waits', () => {});",
  "test/slow/deep/two.test.ts": "test('passes', () => {});",
  "test/alone.test.ts": "test('passes', () => {});",
  "vitest.config.ts": `
    import { createFolderTimes } from ${JSON.stringify(join(root, "test/support/folder-times.ts"))};
    const budgets = JSON.parse(process.env.BUDGETS);
    export default { test: { globals: true, reporters: ["dot", createFolderTimes(budgets)] } };`,
};

describe("the end of a run", () => {
  let project: string;

  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), "tenantry-folder-times-"));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), text);
    }
  });

  afterAll(() => rmSync(project, { recursive: true }));

  async function run(budgets: Readonly<Record<string, number>>, ...more: readonly string[]) {
    const { TEST_DATABASE_URL: _url, TENANTRY_SOAK: _soak, ...env } = process.env;
    const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", project, ...more];
    return new Promise<{ readonly code: number | null; readonly text: string }>((done) => {
      const child = execFile(
        process.execPath,
        args,
        { env: { ...env, BUDGETS: JSON.stringify(budgets) } },
        (_error, out, err) => done({ code: child.exitCode, text: out + err }),
      );
    });
  }

  test("lists what each folder took, with its hooks, and fails if the budgets do not fit", async () => {
    const { code, text } = await run({ slow: 20, gone: 1 });
    expect(text).toMatch(/^ {2}slow +0\.[3-9] +20$/m);
    expect(text).toContain("test/alone.test.ts has no budget");
    expect(text).toContain("test/gone has no tests");
    expect(code).toBe(1);
  });

  test.each([
    ["files", ["slow"]],
    ["tests", ["-t", "passes"]],
  ])("judges nothing if only some %s ran", async (_kind, filter) => {
    const { code, text } = await run({}, ...filter);
    expect(text).not.toContain("budget");
    expect(code).toBe(0);
  });
});
