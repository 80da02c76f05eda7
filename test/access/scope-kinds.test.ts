import { expect, test } from "vitest";
import { scopeIdOf, scopeKindOf, scopeTypeOf } from "../../src/access/scope-kinds.ts";

const row = { org_id: "of-org", customer_id: "of-customer", service_id: "of-service", project_id: "of-project" };

test.each([
  ["platform", "PLATFORM", null],
  ["customer", "CUSTOMER", "of-customer"],
  ["service", "SERVICE", "of-service"],
  ["org", "ORG", "of-org"],
  ["project", "PROJECT", "of-project"],
] as const)("%s is %s in the table, and has the id %s", (kind, type, id) => {
  expect(scopeTypeOf(kind)).toBe(type);
  expect(scopeKindOf(type)).toBe(kind);
  expect(scopeIdOf({ ...row, scope_type: type })).toBe(id);
});
