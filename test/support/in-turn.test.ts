import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { different, namedServerTests, runsInTurn } from "./database-tests.ts";

const root = join(import.meta.dirname, "../..");

test("what a run on the embedded server leaves out, a run on a named one has", () => {
  const onNamedServer = new Set(namedServerTests());
  const inTurn = globSync("test/**/*.test.ts", { cwd: root }).filter((file) => runsInTurn(file));
  expect(inTurn.length).toBeGreaterThan(20);
  expect(inTurn.filter((file) => !onNamedServer.has(file))).toEqual([]);
});

test("the files that a run on a named server has for their statements exist", () => {
  expect(different.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
