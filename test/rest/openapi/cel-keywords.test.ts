import { expect, test } from "vitest";
import { celKeywords } from "../../../src/rest/openapi/constraints/cel-keywords.ts";

test.each([
  ["a regular expression", "this.matches('^[a-z]+$')", { pattern: "^[a-z]+$" }],
  ["a rule that can be disabled", "!rule || this.matches('^a')", { pattern: "^a" }],
  ["a rule that allows the empty text", "!rule || this == '' || this.matches('^a$')", { pattern: "^$|^a$" }],
  ["a length", "size(this) <= 12", { maxLength: 12 }],
  ["the known part of a conjunction", "!rule || (size(this) <= 9 && !this.contains('x'))", { maxLength: 9 }],
  ["what is excluded", "!rule || !this.matches('^a$')", { not: { pattern: "^a$" } }],
  [
    "a regular expression without some of its texts",
    "!rule || this == '' || (this.matches('^[a-z]+$') && this != 'iam' && this != 'resources')",
    { pattern: "^$|^[a-z]+$", not: { pattern: "^iam$|^resources$" } },
  ],
  ["characters that are excluded", "!this.matches('[xy]')", { pattern: "^[^xy]*$" }],
  ["two limits", "size(this) >= 2 && size(this) <= 9", { minLength: 2, maxLength: 9 }],
  ["an escaped backslash", String.raw`this.matches('^\\d$')`, { pattern: String.raw`^\d$` }],
  ["operators inside of a regular expression", "this.matches('a||b&&c')", { pattern: "a||b&&c" }],
])("derives a keyword from %s", (_what, expression, expected) => {
  expect(celKeywords(expression, "Length", false)).toEqual(expected);
});

test.each([
  ["a negation with syntax that only RE2 has", "!this.matches('(?i)a')"],
  ["another alternative", "size(this) > 5 || this.matches('^a$')"],
  ["another field", "this.name.matches('^a$')"],
  ["syntax that only RE2 has", "this.matches('(?i)a')"],
  ["classes that only RE2 has", "this.matches('[[:alpha:]]')"],
  ["escapes of CEL", String.raw`this.matches('\x00')`],
  ["an exclusion of the empty text that is allowed", "this == '' || !this.matches('^a*$')"],
  ["a minimum length when the empty text is allowed", "this == '' || size(this) >= 3"],
])("derives nothing from %s", (_what, expression) => {
  expect(celKeywords(expression, "Length", false)).toEqual({});
});

test("a required text does not allow the empty text", () => {
  expect(celKeywords("this == '' || this.matches('^a$')", "Length", true)).toEqual({ pattern: "^a$" });
});

test("derives keywords from the keys and the size of a map", () => {
  expect(celKeywords("this.all(k, k.matches('^a'))", "Properties", false)).toEqual({
    propertyNames: { pattern: "^a" },
  });
  expect(celKeywords("size(this) <= 64", "Properties", false)).toEqual({ maxProperties: 64 });
});
