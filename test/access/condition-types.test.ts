// Which operands each operator and function of conditions accepts, as tables that people can read: condition-types/*.golden.txt.
// Types that are not in a table are refused.
import { expect, test } from "vitest";
import { checkCondition, parseCondition } from "../../src/access/conditions/compile-condition.ts";
import { countParts } from "../../src/access/conditions/expressions.ts";

/** An expression of each type. */
const samples = {
  bool: "true",
  bytes: "b'a'",
  double: "1.5",
  duration: "duration('1h')",
  dyn: "context.a",
  int: "1",
  list: "[1]",
  map: "resource.labels",
  null: "null",
  string: "'a'",
  timestamp: "request.time",
  uint: "1u",
  request: "request",
  resource: "resource",
  subject: "subject",
};

const types = Object.entries(samples);

/** Returns the type of an expression, from the errors of what each accepts; undefined if it is refused. */
function typeOf(expression: string): string | undefined {
  const problem = checkCondition(expression);
  if (problem !== undefined) return /^must be true or false, not a (.*)$/.exec(problem)?.[1];
  // A value that is known only at evaluation is accepted everywhere.
  return checkCondition(`(${expression}) == 1`) === undefined ? "dyn" : "bool";
}

function tableOf(
  title: string,
  columns: readonly (readonly [string, string])[],
  write: (one: string, other: string) => string,
): string {
  const rows = types.flatMap(([type, one]) => {
    const cells = columns.flatMap(([name, other]) => {
      const result = typeOf(write(one, other));
      return result === undefined ? [] : [`${name}: ${result}`];
    });
    return cells.length === 0 ? [] : [`  ${type.padEnd(10)}${cells.join(", ")}`];
  });
  return `${title}\n${rows.join("\n")}\n`;
}

const call = (name: string): string => tableOf(`${name}(x)`, [["gives", ""]], (one) => `${name}(${one})`);
const unary = (operator: string): string => tableOf(`${operator} x`, [["gives", ""]], (one) => `${operator}${one}`);
const binary = (operator: string): string =>
  tableOf(`x ${operator} y, by the type of y`, types, (one, other) => `${one} ${operator} ${other}`);

const argumentsOfMethods = [
  ["nothing", ""],
  ["string", "'UTC'"],
  ["int", "1"],
  ["dyn", "context.a"],
] as const;
const method = (name: string): string =>
  tableOf(`x.${name}(y), by the type of y`, argumentsOfMethods, (one, other) => `(${one}).${name}(${other})`);

const groups: Readonly<Record<string, () => readonly string[]>> = {
  logic: () => [
    unary("!"),
    ...["&&", "||"].map(binary),
    tableOf("x ? 1 : y", types, (one, other) => `${one} ? 1 : ${other}`),
  ],
  sums: () => [unary("-"), ...["+", "-"].map(binary)],
  products: () => ["*", "/", "%"].map(binary),
  order: () => ["<", "<=", ">", ">="].map(binary),
  equality: () => ["==", "!="].map(binary),
  lists: () => [
    binary("in"),
    tableOf("x in [y]", types, (one, other) => `${one} in [${other}]`),
    tableOf("x[y]", types, (one, other) => `(${one})[${other}]`),
  ],
  functions: () =>
    ["size", "string", "int", "double", "timestamp", "duration", "bool", "uint", "type", "dyn"].map(call),
  methods: () => ["size", "startsWith", "endsWith", "contains", "getHours", "getDate", "getMilliseconds"].map(method),
  fields: () => [
    tableOf(
      "x.y",
      ["path", "type", "labels", "time", "other"].map((name) => [name, name] as const),
      (one, name) => `(${one}).${name}`,
    ),
  ],
};

test.each(Object.entries(groups))("the types accepted by %s are those of its table", async (group, write) => {
  await expect(write().join("\n")).toMatchFileSnapshot(`condition-types/${group}.golden.txt`);
});

test.each([
  ["true", 1],
  ["context", 1],
  ["context.a", 2],
  ["!context.a", 3],
  ["context.a == 1", 4],
  ["context.a in [1, 2, context.b]", 8],
  ["context.a.startsWith('x')", 4],
  ["size(context.a) == 1 ? true : context.b", 9],
])("%s has its constants, variables, fields, calls and lists counted", (expression, parts) => {
  expect(countParts(parseCondition(expression).expr)).toBe(parts);
});

const wholeTimes = ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.123456789Z", "2026-01-31T12:00:00-03:30"];
const otherTimes = [
  "2026-01-31",
  "x2026-01-31T12:00:00Z",
  "2026-01-31T12:00:00Zx",
  "2026-01-31T12:00:00",
  "2026-01-31T12:00:00.Z",
];
const manyTimes = [
  "2026-01-31T12:00:00.1234567890Z",
  "2026-01-31T12:00:00+3:30",
  "2026-01-31T12:00:00+aa:30",
  "2026-01-31T12:00:00+03:3",
];
const wholeDurations = ["1h", "+1.25h", "-1h30m", "1ns2us3µs4ms5s", "0.125s"];
const otherDurations = ["", "1", "h", "x1h", "1hx", "1.h", "1 h", "1.xs", "-"];

test("literal times and durations are checked when a condition is written", () => {
  const time = (text: string) => checkCondition(`timestamp('${text}') < request.time`);
  const duration = (text: string) => checkCondition(`duration('${text}') < duration('1h')`);
  expect([...wholeTimes.map(time), ...wholeDurations.map(duration)]).toEqual(Array(8).fill(undefined));
  expect([...otherTimes, ...manyTimes].map(time)).toEqual(
    Array(9).fill('at column 11: timestamp accepts only a string such as "2026-01-31T12:00:00Z"'),
  );
  expect(otherDurations.map(duration)).toEqual(
    Array(9).fill('at column 10: duration accepts only a string such as "1h30m"'),
  );
  expect(checkCondition("request.time.getHours(context.zone) == 1")).toBe(
    'at column 30: getHours accepts only a time zone as a string literal, such as "Europe/Berlin" or "+02:00"',
  );
});

test("what just fits the limits is accepted, and one more is not", () => {
  const cases: [write: (count: number) => string, limit: number, problem: string][] = [
    [(count) => `resource.path == "${"a".repeat(count - 19)}"`, 2048, "must be at most 2048 characters"],
    [(count) => `${"(".repeat(count)}true${")".repeat(count)}`, 100, "has more than 100 brackets"],
    [(count) => `true ||${" ".repeat(count)}true`, 100, "has more than 100 spaces or line ends in a row"],
    [
      (count) =>
        Array(count + 1)
          .fill("true")
          .join("||"),
      50,
      "has more than 50 operators and calls",
    ],
    [(count) => `context${".a".repeat(count - 1)}`, 100, "is nested more than 100 levels deep"],
  ];
  for (const [write, limit, problem] of cases) {
    expect(checkCondition(write(limit))).toBeUndefined();
    expect(checkCondition(write(limit + 1))?.replace(/^at column \d+: /, "")).toBe(problem);
  }
});

test.each([
  ["resource.other", "at column 9: unknown field other; the fields are path, labels"],
  ["(1).other", "at column 4: unknown field other"],
  ["request.constructor", "at column 8: unknown field constructor; the fields are time"],
  ["1 in resource.labels", "at column 2: in does not accept int, map"],
  ["resource.path._f()", "at column 14: unknown function _f"],
  ["size(1) == 1", "at column 1: size does not accept int"],
  ["1 + 'a' == 1", "at column 2: + does not accept int, string"],
  ["[user] == [1]", "at column 2: unknown variable user; the variables are request, resource, subject, context"],
  ["true\n&& 1", "at column 1: && does not accept bool, int"],
])("%j has an error that names the column and the problem", (expression, problem) => {
  expect(checkCondition(expression)).toContain(problem);
});
