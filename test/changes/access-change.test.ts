import { expect, test } from "vitest";
import { mayChangeAccess } from "../../src/changes/access-change.ts";
import type { Change } from "../../src/changes/change.ts";
import { registry } from "../../src/resource-registry.ts";

const row = {
  id: "1",
  name: "a",
  display_name: "A",
  description: "",
  labels: {},
  state: "ACTIVE",
  changed_revision: "1",
};
const changeOf = (type: Change["type"], before: object | null, after: object | null): Change => ({
  type,
  id: "1",
  path: "/",
  containerId: "1",
  before,
  after,
});

test("new members, groups, projects and resources change nobody's access; all else may when it is created", () => {
  const types = registry.definitions.map(({ type }) => type);
  const without = types.filter((type) => !mayChangeAccess(changeOf(type, null, row)));
  expect(without.toSorted()).toEqual(["Group", "Member", "Operation", "Project", "Resource"]);
});

test.each([
  ["Member", { display_name: "B", changed_revision: "2" }, false],
  ["Member", { labels: { a: "b" } }, false],
  ["Member", { name: "b" }, true],
  ["Member", { state: "SUSPENDED" }, true],
  ["Member", { token_gen: "1" }, true],
  ["Group", { description: "b" }, false],
  ["Group", { name: "b" }, true],
  ["Project", { display_name: "B" }, false],
  // Conditions see them.
  ["Project", { labels: { a: "b" } }, true],
  ["Project", { delete_time: "2030-01-01" }, true],
  ["Resource", { state: "DELETING", operation_id: "1" }, false],
  ["Resource", { state: "ACTIVE", given_quantities: { cpu_cores: 2 }, outputs: {}, reference_ids: {} }, false],
  ["Resource", { delete_time: "2030-01-01" }, false],
  ["Resource", { name: "b" }, true],
  ["Operation", { state: "SUCCEEDED" }, false],
  ["Role", { display_name: "B" }, true],
] as const)("an update of a %s: %j", (type, change, expected) => {
  expect(mayChangeAccess(changeOf(type, row, { ...row, ...change }))).toBe(expected);
});

test("a removal may change access, except that of what is in a project", () => {
  const types = registry.definitions.map(({ type }) => type);
  const without = types.filter((type) => !mayChangeAccess(changeOf(type, row, null)));
  expect(without.toSorted()).toEqual(["Operation", "Resource"]);
});
