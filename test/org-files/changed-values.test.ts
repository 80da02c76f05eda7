// Tests what a plan shows of fields that it changes.
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GroupSchema } from "../../gen/iam/v1alpha/group_pb.ts";
import { findChangedValues } from "../../src/org-files/changed-values.ts";

function valuesOf(before: string, after: string): readonly string[] {
  const [one, other] = [before, after].map((description) => create(GroupSchema, { name: "sre", description }));
  if (one === undefined || other === undefined) throw new Error("there are two");
  const [changed] = findChangedValues(GroupSchema, ["description"], one, other);
  return [changed?.before ?? "", changed?.after ?? ""];
}

test("short values are shown whole, as JSON, and what is not set as nothing", () => {
  expect(valuesOf("a\nb", "")).toEqual(['"a\\nb"', ""]);
  expect(valuesOf("", "x")).toEqual(["", '"x"']);
});

test("of long values, the part is shown where they begin to differ", () => {
  const same = "s".repeat(2_000);
  const [before = "", after = ""] = valuesOf(`${same}old`, `${same}new ${"n".repeat(500)}`);
  expect(before).toBe(`…${"s".repeat(20)}old"`);
  expect(after).toMatch(/^…s{20}new n+…$/);
  expect(after.length).toBeLessThan(130);
});

test("a character that is cut in two is none of a broken one", () => {
  for (const offset of [0, 1]) {
    const [before = "", after = ""] = valuesOf("x".repeat(offset) + "😀".repeat(200), "y".repeat(300));
    expect([before.isWellFormed(), after.isWellFormed()]).toEqual([true, true]);
  }
});
