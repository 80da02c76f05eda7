import { describe, expect, test } from "vitest";
import { readMask } from "../../src/rest/field-paths.ts";
import { ratioOf } from "../support/cpu-time.ts";

test.each<[string, string[] | undefined]>([
  ["displayName", ["display_name"]],
  ["display_name,labels.costCentre", ["display_name", "labels.cost_centre"]],
  ["labels.`cost_Centre`", ["labels.`cost_Centre`"]],
  ["display_Name", undefined],
  ["displayName_", undefined],
  ["_displayName", undefined],
])("the mask %s has the paths %j", (text, paths) => {
  expect(readMask(text)).toEqual(paths);
});

describe("a mask is read in linear time", () => {
  test.each([
    ["capitals", "A".repeat(2_000)],
    ["underscores", "_".repeat(2_000)],
    ["backticks", `a.${"`".repeat(2_000)}`],
    ["pairs of backticks", `a.\`${"``".repeat(1_000)}\``],
    ["dots", `a${".a".repeat(1_000)}`],
    ["commas", `a${",a".repeat(1_000)}`],
  ])("%s", (_what, text) => {
    const ratio = ratioOf(
      () => readMask(text),
      () => Array.from(text),
    );
    expect(ratio).toBeLessThan(100);
  });
});
