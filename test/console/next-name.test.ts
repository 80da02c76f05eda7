import { expect, test } from "vitest";
import { nextName } from "../../console/src/calls/next-name.ts";
import { isName } from "../../src/paths/parse-path.ts";

test.each([
  ["ci", [], "ci-2"],
  ["ci-2", [], "ci-3"],
  ["ci-2", ["ci-3", "ci-4"], "ci-5"],
  ["ci-9", [], "ci-10"],
  ["2026-11", [], "2026-12"],
  ["a-0", [], "a-0-2"],
  ["a--2", [], "a--2-2"],
  ["7", [], "7-2"],
  ["k".repeat(64), [], `${"k".repeat(62)}-2`],
  [`${"k".repeat(61)}-99`, [], `${"k".repeat(60)}-100`],
  [`${"k".repeat(60)}--kk`, [], `${"k".repeat(60)}-2`],
])("after %s, where there are %j, comes %s", (name, taken, next) => {
  expect([nextName(name, new Set(taken)), isName(next)]).toEqual([next, true]);
});
