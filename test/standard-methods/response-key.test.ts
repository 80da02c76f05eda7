import { expect, test } from "vitest";
import { type Visibility, unlimited } from "../../src/access/evaluation/visibility.ts";
import { patterns } from "../../src/paths/patterns.ts";
import { responseKey } from "../../src/standard-methods/read/response-key.ts";

const org = { by: "id", value: "1", shown: "acme" } as const;

test("lists of several collections of an org have keys of their own", () => {
  const keys = [patterns.Member, patterns.Group, patterns.Project].map((pattern) =>
    responseKey("List", pattern, [org], unlimited, ""),
  );
  expect(new Set(keys).size).toBe(3);
});

test("a resource has one key by its id, whatever the name by which it was found", () => {
  const named = (shown: string) =>
    responseKey("Get", patterns.Member, [org, { by: "id", value: "2", shown }], unlimited, "");
  expect(named("alice")).toBe(named("bob"));
  expect(named("alice")).not.toContain("alice");
  expect(named("alice")).not.toBe(
    responseKey("Get", patterns.Member, [org, { by: "name", value: "2" }], unlimited, ""),
  );
});

test("callers that see different rows through the same path do not share a response", () => {
  const path = [org, { by: "any" }] as const;
  const keyOf = (visible: Visibility) => responseKey("List", patterns.Resource, path, visible, "");
  const without = { ...unlimited, suspendedProjects: { orgIds: [], customerIds: [] } };
  expect(keyOf(without)).toBe(keyOf({ ...without }));
  expect(keyOf(without)).not.toBe(keyOf(unlimited));
});
