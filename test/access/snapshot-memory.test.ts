// Tests that snapshots count the memory that they take: the limit of all snapshots relies on it, and most orgs are small.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";

const program = fileURLToPath(new URL("measure-snapshots.ts", import.meta.url));

test("an empty snapshot counts about what it takes", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program], {
    env: { ...process.env, NODE_COMPILE_CACHE: inject("compileCache") },
  });
  const { counted, taken } = JSON.parse(stdout) as { counted: number; taken: number };
  expect(counted / taken).toBeGreaterThan(0.75);
  expect(counted / taken).toBeLessThan(1.5);
});
