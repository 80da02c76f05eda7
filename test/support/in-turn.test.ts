import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { databaseTests } from "./database-tests.ts";

const root = join(import.meta.dirname, "../..");

test("what a run on the embedded server leaves out, a run on a named one has", () => {
  const onNamedServer = new Set(databaseTests());
  const inTurn = globSync("test/**/*.test.ts", { cwd: root }).filter((file) =>
    /\b(?:run|protocols)InTurn\(/.test(readFileSync(join(root, file), "utf8")),
  );
  expect(inTurn.length).toBeGreaterThan(20);
  expect(inTurn.filter((file) => !onNamedServer.has(file))).toEqual([]);
});
