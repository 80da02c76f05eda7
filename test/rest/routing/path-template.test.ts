import { expect, test } from "vitest";
import { parsePathTemplate } from "../../../src/rest/routing/path-template.ts";

test("reads segments, variables and the verb", () => {
  expect(parsePathTemplate("/v1/{book.path=shelves/*/books/**}/a%20b:move")).toEqual({
    text: "/v1/{book.path=shelves/*/books/**}/a%20b:move",
    segments: [
      { kind: "literal", value: "v1" },
      { kind: "literal", value: "shelves" },
      { kind: "*" },
      { kind: "literal", value: "books" },
      { kind: "**" },
      { kind: "literal", value: "a b" },
    ],
    verb: "move",
    variables: [{ fieldPath: ["book", "path"], start: 1, end: 5, single: false }],
  });
});

test.each([
  ["", 1, 'expected "/", got the end'],
  ["v1", 1, 'expected "/", got "v"'],
  ["/", 2, "expected a segment, got the end"],
  ["/a//b", 4, 'expected a segment, got "/"'],
  ["/a/", 4, "expected a segment, got the end"],
  ["/a?b", 3, 'expected "/", ":" or the end, got "?"'],
  ["/a b", 3, 'expected "/", ":" or the end, got " "'],
  ["/é", 2, 'expected a segment, got "é"'],
  ["/a*", 3, 'expected "/", ":" or the end, got "*"'],
  ["/***", 4, 'expected "/", ":" or the end, got "*"'],
  ["/**/*", 5, 'no wildcard may follow "**"'],
  ["/{a=**}/{b}", 9, 'no wildcard may follow "**"'],
  ["/a:", 4, "expected a segment, got the end"],
  ["/%2", 2, '"%" must be followed by two hexadecimal digits'],
  ["/%ff", 2, "the percent-encoded bytes are not UTF-8"],
  ["/{}", 3, 'expected a field name, got "}"'],
  ["/{1a}", 3, 'expected a field name, got "1"'],
  ["/{a.}", 5, 'expected a field name, got "}"'],
  ["/{a-b}", 4, 'expected "}", got "-"'],
  ["/{a={b}}", 5, "a variable cannot hold another variable"],
  ["/{a=b:c}", 6, 'expected "}", got ":"'],
  ["/{a", 4, 'expected "}", got the end'],
  ["/{a}b", 5, 'expected "/", ":" or the end, got "b"'],
  ["/{a}/{a=b}", 6, "captures a again"],
])("rejects %s at column %i", (text, column, problem) => {
  const quoted = JSON.stringify(text);
  expect(() => parsePathTemplate(text)).toThrow(`path template ${quoted}, column ${column}: ${problem}`);
});
