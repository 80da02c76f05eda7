import { expect, test } from "vitest";
import { celKeywords } from "../../../src/rest/openapi/constraints/cel-keywords.ts";

test.each([
  ["a regular expression", "this.matches('^[a-z]+$')", { pattern: "^[a-z]+$" }],
  ["a rule that may be off", "!rule || this.matches('^a')", { pattern: "^a" }],
  ["an allowed empty text", "!rule || this == '' || this.matches('^a$')", { pattern: "^$|^a$" }],
  ["a length", "size(this) <= 12", { maxLength: 12 }],
  ["what it can read of a conjunction", "!rule || (size(this) <= 9 && !this.contains('x'))", { maxLength: 9 }],
  ["two limits", "size(this) >= 2 && size(this) <= 9", { minLength: 2, maxLength: 9 }],
  ["an escaped backslash", String.raw`this.matches('^\\d$')`, { pattern: String.raw`^\d$` }],
  ["operators inside of a regular expression", "this.matches('a||b&&c')", { pattern: "a||b&&c" }],
])("reads %s", (_what, expression, expected) => {
  expect(celKeywords(expression, "Length", false)).toEqual(expected);
});

test.each([
  ["a negation", "!this.matches('^a$')"],
  ["another alternative", "size(this) > 5 || this.matches('^a$')"],
  ["another field", "this.name.matches('^a$')"],
  ["syntax that only RE2 has", "this.matches('(?i)a')"],
  ["classes that only RE2 has", "this.matches('[[:alpha:]]')"],
  ["escapes of CEL", String.raw`this.matches('\x00')`],
  ["a least length beside an allowed empty text", "this == '' || size(this) >= 3"],
])("says nothing of %s", (_what, expression) => {
  expect(celKeywords(expression, "Length", false)).toEqual({});
});

test("a required text need not be allowed to be empty", () => {
  expect(celKeywords("this == '' || this.matches('^a$')", "Length", true)).toEqual({ pattern: "^a$" });
});

test("reads the keys and the size of a map", () => {
  expect(celKeywords("this.all(k, k.matches('^a'))", "Properties", false)).toEqual({
    propertyNames: { pattern: "^a" },
  });
  expect(celKeywords("size(this) <= 64", "Properties", false)).toEqual({ maxProperties: 64 });
});
