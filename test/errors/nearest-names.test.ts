import { expect, test } from "vitest";
import { nearestNames } from "../../src/errors/nearest-names.ts";

const names = ["iam.members.get", "iam.members.list", "iam.members.delete", "iam.member", "IAM.orgs.get", ""];

test.each([
  ["iam.member.get", ["iam.members.get"]],
  ["iam.memebrs.get", ["iam.members.get"]],
  ["iam.Orgs.gte", ["IAM.orgs.get"]],
  ["iam.members.gest", ["iam.members.get"]],
  ["iam.members.let", ["iam.members.get"]],
  ["iam.members", ["iam.member"]],
])("for %j, %j is meant", (text, nearest) => {
  expect(nearestNames(text, names)).toEqual(nearest);
});

test("a name that differs too much is not meant", () => {
  expect(nearestNames("compute.instances.start", names)).toEqual([]);
  expect(nearestNames("iam", names)).toEqual([]);
  expect(nearestNames("x".repeat(100_000), names)).toEqual([]);
});

test("of names that are equally near, the first three are returned", () => {
  expect(nearestNames("bat", ["cat", "dog", "hat", "mat", "rat"])).toEqual(["cat", "hat", "mat"]);
});
