import { expect, test } from "vitest";
import { registry } from "../../src/resource-registry.ts";
import { type Shape, shapeOf } from "./resource-shapes.ts";
import { type WrittenResource, writtenResource, writtenResources } from "./written-resources.ts";

test("each resource has the shape under which the long tables of tests run for it", () => {
  const named = Map.groupBy(writtenResources, shapeOf);
  const expected: Record<Shape, string[]> = {
    "created with another": ["customers"],
    "kept, at the top": ["orgs"],
    "kept, in a parent": ["projects", "members"],
    "removed, at the top": ["services", "quantity kinds", "quality kinds"],
    "removed, in a parent": [
      "identity providers",
      "identities",
      "SCIM sources",
      "groups",
      "roles",
      "role bindings",
      "role bindings of projects",
      "contacts",
      "quota requests",
      "event streams",
      "resource types",
    ],
    "with a secret": ["API keys", "clients", "webhooks"],
    link: ["memberships", "subgroups"],
    "run by a provider": ["resources"],
  };
  expect(Object.fromEntries([...named].map(([shape, all]) => [shape, all.map(({ name }) => name)]))).toEqual(expected);
});

test("a resource that is like no other is refused", () => {
  const org = registry.definitionOf("Org");
  const strange: WrittenResource = { ...writtenResource("ApiKey"), definition: { ...org, type: "ApiKey" } };
  expect(() => shapeOf({ ...strange, createdWith: "Org" })).toThrow("API keys have no shape in resource-shapes.ts");
});
