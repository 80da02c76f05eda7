import { describe, expect, test } from "vitest";
import { parseFilter, parsePath } from "../../src/scim/filter.ts";

const path = (name: string, more: object = {}) => ({ schema: "", name, where: undefined, part: undefined, ...more });

describe("a filter", () => {
  test.each([
    ['userName eq "alice"', [{ path: path("username"), value: "alice" }]],
    ['USERNAME EQ "a \\"b\\" \\u00e9"', [{ path: path("username"), value: 'a "b" é' }]],
    ["active eq true", [{ path: path("active"), value: true }]],
    [
      'id eq "1" and members eq "2"',
      [
        { path: path("id"), value: "1" },
        { path: path("members"), value: "2" },
      ],
    ],
    [
      'emails[type eq "work"].value eq "a@b.c"',
      [{ path: path("emails", { where: [{ path: path("type"), value: "work" }], part: "value" }), value: "a@b.c" }],
    ],
    [
      'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "alice"',
      [{ path: path("username", { schema: "urn:ietf:params:scim:schemas:core:2.0:user" }), value: "alice" }],
    ],
  ])("%s is read", (text, terms) => expect(parseFilter(text)).toEqual(terms));

  test.each([
    ["userName", /column 9: expected eq/],
    ['userName co "a"', /column 9: expected eq, got/],
    ["userName pr", /expected eq/],
    ['userName eq "a" or userName eq "b"', /expected and, or the end/],
    ['not (userName eq "a")', /expected eq/],
    ['(userName eq "a")', /column 1: expected the name/],
    ["userName eq alice", /expected a value/],
    ['userName eq "a', /expected a value/],
    ['userName eq "\\x"', /expected a value/],
    ['emails[type eq "work"', /expected ]/],
    ['emails[a[b eq 1] eq 1] eq "x"', /expected eq/],
    ["", /column 1/],
    [Array.from({ length: 30 }, () => 'id eq "1"').join(" and "), /at most 20 comparisons/],
    [`userName eq "${"a".repeat(5_000)}"`, /at most 4096/],
    ["[".repeat(2_000), /column 1/],
    [`urn:${":a".repeat(2_000)}`, /expected/],
  ])("%.40s is refused", (text, problem) => {
    expect(() => parseFilter(text)).toThrow(problem);
    expect(() => parseFilter(text)).toThrow(expect.objectContaining({ metadata: { scim_type: "invalidFilter" } }));
  });
});

describe("a path", () => {
  test.each([
    ["members", path("members")],
    ["name.givenName", path("name", { part: "givenname" })],
    ['members[value eq "1"]', path("members", { where: [{ path: path("value"), value: "1" }] })],
    [
      "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
      path("department", { schema: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:user" }),
    ],
  ])("%s is read", (text, parsed) => expect(parsePath(text)).toEqual(parsed));

  test.each([["members["], ["members[]"], ["a.b.c"], ["a b"], [".a"], ["members[value eq 1] x"]])(
    "%s is refused",
    (text) =>
      expect(() => parsePath(text)).toThrow(expect.objectContaining({ metadata: { scim_type: "invalidPath" } })),
  );
});
