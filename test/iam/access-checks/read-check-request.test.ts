import { expect, test } from "vitest";
import { readAttributes } from "../../../src/iam/access-checks/read-check-request.ts";

const tooLarge = "must be at most 4096 characters of JSON with about 100 values";

test.each([
  ["a long text", { text: "x".repeat(4096) }],
  ["many values", { list: Array.from({ length: 201 }, () => 1) }],
  ["many objects", { list: Array.from({ length: 101 }, () => ({ a: 1 })) }],
])("a context with %s is refused, and the error says what is accepted", (_what, context) => {
  expect(() => readAttributes(context, "context")).toThrow(tooLarge);
});

test("a context of 100 values is read", () => {
  const context = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]));
  expect(readAttributes(context, "context")).toEqual(context);
});
