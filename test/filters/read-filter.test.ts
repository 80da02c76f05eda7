import { describe, expect, test } from "vitest";
import { type FilterFields, scalar } from "../../src/filters/filter-fields.ts";
import { readFilter } from "../../src/filters/read-filter.ts";
import { thrownBy } from "../paths/service-failure.ts";
import { thingFields } from "./things.ts";

const { raw } = String;
const all = "= != < <= > >= :";
const time = "a time such as 2026-01-31T12:00:00Z (RFC 3339)";
const fieldList =
  "the fields are amounts, count, create_time, delete_time, description, display_name, enabled, etag, id, labels, name, patience, purge_time, ratio, state, type, update_time";

describe("rejects a filter that does not match the fields, with the column and what is accepted:", () => {
  const refusals: readonly [filter: string, column: number, problem: string][] = [
    ["foo = 1", 1, `there is no field "foo"; ${fieldList}`],
    ["name = a AND (b OR createTime > 5)", 20, `there is no field "createTime"; ${fieldList}`],
    ["toString = 1", 1, `there is no field "toString"; ${fieldList}`],
    ["__proto__ = 1", 1, `there is no field "__proto__"; ${fieldList}`],
    ["na* = 1", 1, `there is no field "na*"; ${fieldList}`],
    [`"name" = a`, 1, `expected a field before the comparator, got the string "name"`],
    ["1 > 0", 1, `there is no field "1"; ${fieldList}`],
    ["create_time.seconds > 5", 13, "create_time has no fields of its own"],
    ["name.x = 5", 6, "name has no fields of its own"],
    ["state.x:*", 7, "state has no fields of its own"],
    ["foo() = 1", 1, "function foo() is not supported; there are no functions"],
    ["-a.b(1, 2)", 2, "function a.b() is not supported; there are no functions"],
    ["count > now()", 9, "function now() is not supported; there are no functions"],
    ["count = (1 OR max(2))", 15, "function max() is not supported; there are no functions"],
    ["labels = x", 8, `labels does not support the comparator "="; it supports :`],
    ["labels != x", 8, `labels does not support the comparator "!="; it supports :`],
    ["labels:a*", 8, "labels:<key> accepts only a complete key, or * for any"],
    ["labels.env < x", 12, `labels.env does not support the comparator "<"; it supports = != :`],
    ["labels.a.b = x", 10, `a key with dots must be quoted: labels."a.b"`],
    [
      `labels.${"k".repeat(50)} < x`,
      59,
      `labels.${"k".repeat(40)}… does not support the comparator "<"; it supports = != :`,
    ],
    ["labels.a* = x", 8, raw`a key cannot contain wildcards; write an asterisk as \*`],
    ["state > ACTIVE", 7, `state does not support the comparator ">"; it supports = != :`],
    ["state = active", 9, `state must be one of INVITED, ACTIVE, SUSPENDED, DELETED, got "active"`],
    ["state = A*", 9, `state must be one of INVITED, ACTIVE, SUSPENDED, DELETED, got "A*"`],
    ["state = 2", 9, `state must be one of INVITED, ACTIVE, SUSPENDED, DELETED, got "2"`],
    ["state:STATE_UNSPECIFIED", 7, `state must be one of INVITED, ACTIVE, SUSPENDED, DELETED, got "STATE_UNSPECIFIED"`],
    ["type = null", 8, `type must be one of USER, APPLICATION, got "null"`],
    ["type = (USER OR DOG)", 17, `type must be one of USER, APPLICATION, got "DOG"`],
    ["enabled < true", 9, `enabled does not support the comparator "<"; it supports = != :`],
    ["enabled = TRUE", 11, `enabled must be true or false, got "TRUE"`],
    ["enabled = null", 11, `enabled must be true or false, got "null"`],
    ["count = 1.5", 9, `count must be a whole number of 64 bits, got "1.5"`],
    ["count = 9223372036854775808", 9, `count must be a whole number of 64 bits, got "9223372036854775808"`],
    ["count = 0x10", 9, `count must be a whole number of 64 bits, got "0x10"`],
    [`count = ""`, 9, `count must be a whole number of 64 bits, got ""`],
    ["ratio = NaN", 9, `ratio must be a number such as 42, -1.5 or 2.997e9, got "NaN"`],
    ["ratio = 1e999", 9, `ratio must be a number such as 42, -1.5 or 2.997e9, got "1e999"`],
    ["amounts = 4", 9, `amounts does not support the comparator "="; it supports :`],
    ["amounts.cores > many", 17, `amounts.cores must be a number such as 42, -1.5 or 2.997e9, got "many"`],
    ["patience > 20", 12, `patience must be a number of seconds such as 20s or 1.5s, got "20"`],
    ["patience > 20m", 12, `patience must be a number of seconds such as 20s or 1.5s, got "20m"`],
    ["id = x", 6, `id must be a UUID such as 01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b, got "x"`],
    ["create_time > yesterday", 15, `create_time must be ${time}, got "yesterday"`],
    ["create_time > null", 15, `create_time must be ${time}, got "null"`],
    [`delete_time = "null"`, 15, `delete_time must be ${time}, got "null"`],
    ["create_time = 2026*", 15, `create_time must be ${time}, got "2026*"`],
    ["create_time = *", 15, `create_time must be ${time}, got "*"`],
    ["name < a*", 8, raw`"*" is a wildcard only with =, != and :; write an asterisk as \*`],
    [`name = a."b"`, 10, "a value must be either one quoted string or unquoted text"],
    [`a."b"`, 3, "a value must be either one quoted string or unquoted text"],
    ["name = (a OR count = 5)", 20, `expected only values in the parentheses after "="`],
    [
      `name = "${"x".repeat(50)}" AND state=${"y".repeat(50)}`,
      71,
      `state must be one of INVITED, ACTIVE, SUSPENDED, DELETED, got "${"y".repeat(40)}…"`,
    ],
  ];

  test.each(refusals)("%s", (filter, column, problem) => {
    const error = thrownBy(() => readFilter(filter, thingFields));
    expect(error.reason).toBe("FIELD_INVALID");
    expect(error.violations).toEqual([
      { field: "filter", description: `column ${column}: ${problem}`, rule: "filter" },
    ]);
  });

  const operators: readonly [filter: string, column: number, problem: RegExp][] = [
    ['name = "alice" && type = USER', 16, /^&& is no operator; write AND, or quote &&/],
    ["alice || bob", 7, /^\|\| is no operator; write OR,/],
    ["name = alice and type = USER", 14, /^and is no operator; write AND,/],
    ["name = alice Or (type = USER)", 14, /^Or is no operator; write OR,/],
    ["not type = USER", 1, /^not is no operator; write NOT,/],
    ["type = USER AND (not state = ACTIVE)", 18, /^not is no operator; write NOT,/],
    ["name = a OR not type = USER", 13, /^not is no operator; write NOT,/],
    ["name = (a or b)", 11, /^or is no operator; write OR,/],
    ['name LIKE "ali%"', 6, /^LIKE is no comparator; write name = "a\*"/],
    ["type in (USER APPLICATION)", 6, /^in is no comparator; .* type = \(a OR b\)/],
    ["delete_time IS null", 13, /^IS is no comparator/],
  ];
  test.each(operators)("with an operator of another language: %s", (filter, column, problem) => {
    const [violation] = thrownBy(() => readFilter(filter, thingFields)).violations;
    expect(violation?.description).toMatch(new RegExp(`^column ${column}: ${problem.source.slice(1)}`));
  });

  test.each([
    "salt and pepper",
    "not yet",
    'type = USER "and" state = ACTIVE',
    "name:and",
    'name = ("and" OR b)',
    "made in china",
    "name = (a OR constructor)",
    "constructor type = USER",
  ])("but not words: %s", (filter) => {
    expect(readFilter(filter, thingFields)).toBeDefined();
  });

  test("more letters beyond ASCII in a search than an alphabet has", () => {
    const from = (code: number, length: number) =>
      Array.from({ length }, (_, index) => String.fromCodePoint(code + index));
    // Letters of Armenian and of Georgian.
    const letters = [...from(0x561, 38), ...from(0x10d0, 27)];
    const description = (filter: string) => thrownBy(() => readFilter(filter, thingFields)).violations[0]?.description;
    expect(description(letters.join(""))).toBe(
      "column 1: a search word can have at most 64 different letters beyond ASCII",
    );
    expect(readFilter(letters.slice(0, 64).join(""), thingFields)).toBeDefined();
  });

  test("more than ten substring searches", () => {
    const problem = "at most 10 search words are allowed, alone or as field:word";
    const description = (filter: string) => thrownBy(() => readFilter(filter, thingFields)).violations[0]?.description;
    expect(
      readFilter(`${"a ".repeat(5)}name:(b OR c OR d) name:e -f name:* name=g labels.h:i`, thingFields),
    ).toBeDefined();
    expect(description("a ".repeat(11))).toBe(`column 21: ${problem}`);
    expect(description(`${"a ".repeat(9)}name:(b OR c)`)).toBe(`column 30: ${problem}`);
  });

  test("a bare word if no field is searchable", () => {
    const fields: FilterFields = { count: scalar("integer", "things.count") };
    expect(thrownBy(() => readFilter("x", fields)).violations[0]?.description).toBe(
      "column 1: expected a restriction such as field = value; the fields are count",
    );
  });
});

describe("accepts every comparator of a field:", () => {
  const values: readonly [field: string, comparators: string, value: string][] = [
    ["name", all, "x"],
    ["id", all, "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b"],
    ["create_time", all, "2026-01-31T12:00:00Z"],
    ["count", all, "-5"],
    ["ratio", all, "-1.5"],
    ["patience", all, "1.5s"],
    ["enabled", "= != :", "true"],
    ["state", "= != :", "DELETED"],
    ["labels", ":", "x"],
    ["labels.x", "= != :", "x"],
  ];

  test.each(values)("%s %s", (field, comparators, value) => {
    for (const comparator of comparators.split(" ")) {
      expect(readFilter(`${field} ${comparator} ${value}`, thingFields)).toBeDefined();
      expect(readFilter(`${field}${comparator}"${value}"`, thingFields)).toBeDefined();
    }
    expect(readFilter(`${field}:*`, thingFields)).toMatchObject({ kind: "present" });
  });
});

describe("a time", () => {
  const readings: readonly [text: string, instant: string][] = [
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000000Z"],
    ["2026-01-31t12:00:00z", "2026-01-31T12:00:00.000000Z"],
    ["2026-01-31T12:00:00+02:30", "2026-01-31T09:30:00.000000Z"],
    ["2012-04-21T11:30:00-04:00", "2012-04-21T15:30:00.000000Z"],
    ["2026-01-31T12:00:00-00:00", "2026-01-31T12:00:00.000000Z"],
    ["2024-02-29T23:59:59.5Z", "2024-02-29T23:59:59.500000Z"],
    ["2026-01-31T12:00:00.123456789Z", "2026-01-31T12:00:00.123456Z"],
    ["2026-01-31T12:00:00.123000001Z", "2026-01-31T12:00:00.123001Z"],
    ["2026-01-31T12:00:00.999999999Z", "2026-01-31T12:00:00.999999Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
    ["9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999Z"],
  ];

  test.each(readings)("accepts %s", (text, value) => {
    expect(readFilter(`create_time = ${text}`, thingFields)).toMatchObject({ kind: "compare", value });
  });

  test.each([
    "2026-01-31",
    "2026-01-31T12:00Z",
    "2026-01-31T12:00:00",
    "2026-02-29T12:00:00Z",
    "2026-13-01T12:00:00Z",
    "2026-00-01T12:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T23:59:60Z",
    "2026-01-31T12:00:00+24:00",
    "2026-01-31T12:00:00+01:60",
    "2026-01-31T12:00:00+0100",
    "2026-01-31T12:00:00.1234567890Z",
    "0000-12-31T12:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "infinity",
    "now",
  ])("rejects %s", (text) => {
    const [violation] = thrownBy(() => readFilter(`create_time = ${text}`, thingFields)).violations;
    expect(violation?.description).toBe(`column 15: create_time must be ${time}, got "${text}"`);
  });
});
