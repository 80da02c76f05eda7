import { describe, expect, test } from "vitest";
import {
  type ConditionContext,
  checkCondition,
  compileCondition,
} from "../../src/access/conditions/compile-condition.ts";
import { ratioOf } from "../support/cpu-time.ts";

const asked: ConditionContext = {
  request: { time: new Date("2026-03-29T00:30:00.250Z") },
  resource: { path: "/orgs/acme/projects/web", labels: { env: "prod", "cost-centre": "4711" } },
  subject: { path: "/orgs/acme/members/alice", type: "member" },
  context: {
    amount: 99.5,
    user: "/orgs/acme/members/alice",
    vip: true,
    nothing: null,
    tags: ["a", 1, null],
    address: { city: "Bonn" },
  },
};

const holds = (expression: string, change: Partial<ConditionContext> = {}): boolean =>
  compileCondition(expression)({ ...asked, ...change });

describe("a condition", () => {
  test.each([
    ['request.time < timestamp("2026-04-01T00:00:00Z")', true],
    ['request.time - timestamp("2026-03-29T00:00:00Z") < duration("20m")', false],
    ['request.time + duration("1h30m") > timestamp("2026-03-29T02:00:00Z")', true],
    ["request.time.getHours() == 0 && request.time.getMinutes() == 30", true],
    ['request.time.getHours("Europe/Berlin") == 1', true],
    ['request.time.getHours("+05:30") == 6', true],
    ["request.time.getDayOfWeek() in [0, 6]", true],
    ["request.time.getFullYear() == 2026 && request.time.getMonth() == 2 && request.time.getDate() == 29", true],
    ["request.time.getDayOfMonth() == 28 && request.time.getDayOfYear() == 87", true],
    ["request.time.getSeconds() == 0 && request.time.getMilliseconds() == 250", true],
    ['resource.path.startsWith("/orgs/acme/projects/")', true],
    ['resource.path.endsWith("/web") && !resource.path.contains("/db")', true],
    ['resource.labels.env == "prod" && resource.labels["cost-centre"] == "4711"', true],
    ['"env" in resource.labels && !("team" in resource.labels)', true],
    ["has(resource.labels.env) && !has(resource.labels.team)", true],
    ["size(resource.labels) == 2 && resource.path.size() == 23", true],
    ['subject.type == "member" && resource.labels.env in ["prod", "dev"]', true],
    ["context.amount < 100 && context.amount > 99", true],
    ["context.user == subject.path", true],
    ["context.vip", true],
    ["context.nothing == null", true],
    ['context.address.city == "Bonn"', true],
    ["1 in context.tags && context.tags[1] == 1", true],
    ["has(context.other) && context.other", false],
    ["context.vip ? context.amount < 1 : true", false],
    ["context.missing || true", true],
    ['string(context.amount) == "99.5" && int("7") + 1 == 8', true],
  ])("%s is %s", (expression, expected) => {
    expect(checkCondition(expression)).toBeUndefined();
    expect(holds(expression)).toBe(expected);
  });

  test.each(["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC", "-03:30"])(
    "agrees with the calendar of %s on hours and days",
    (zone) => {
      const [isHour, isDay] = ["getHours", "getDate"].map((name) =>
        Array.from({ length: 32 }, (_, value) => compileCondition(`request.time.${name}("${zone}") == ${value}`)),
      );
      const format = new Intl.DateTimeFormat("en-GB", {
        timeZone: zone,
        hour: "2-digit",
        day: "2-digit",
        hourCycle: "h23",
      });
      // Daylight saving time changes in Europe and on Lord Howe Island in these days.
      for (let quarter = 0; quarter < 4 * 24 * 9; quarter++) {
        const time = new Date(Date.UTC(2026, 2, 28) + quarter * 900_000);
        const shown = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
        const context = { ...asked, request: { time } };
        const [hour = -1, day = -1] = [shown["hour"], shown["day"]];
        expect([isHour?.[hour]?.(context), isDay?.[day]?.(context)]).toEqual([true, true]);
      }
    },
  );

  test.each([
    "context.missing == 1",
    "context.address.street == 'x'",
    "context.amount + 1 == 100.5",
    "context.user",
    "context.tags[7] == 1",
    "1 / int(context.amount - context.amount) == 1",
    "resource.labels.constructor == ''",
    "context.toString == ''",
  ])("%s fails to evaluate", (expression) => {
    expect(checkCondition(expression)).toBeUndefined();
    expect(() => holds(expression)).toThrow();
  });
});

describe("an expression is rejected", () => {
  test("with a character that the database cannot store", () => {
    expect(checkCondition("resource.path == '\0'")).toBe("must not contain the character U+0000");
    expect(checkCondition(String.raw`resource.path == '\x00'`)).toBeUndefined();
  });

  test.each([
    ["", "at column 1"],
    ["request.time <", "at column 14"],
    ["resource.path ==\n  true &&", "at line 2, column 8"],
    ["request.path == ''", "at column 8: unknown field path; the fields are time"],
    ["user == 'x'", "at column 1: unknown variable user; the variables are request, resource, subject, context"],
    ["toString == 'x'", "unknown variable toString"],
    ["request.constructor == 'x'", "unknown field constructor"],
    ["request.time.valueOf() == 1", "unknown function valueOf"],
    ["resource.path == 1", "string and int are never equal"],
    ['subject.labels.team == "sre"', "at column 8: unknown field labels"],
    ["subject.type in ['USER', 1]", "at column 26: string and int are never equal"],
    ["1 in resource.labels", "in does not accept int, map"],
    ["resource.path < 1", "< does not accept string, int"],
    ["request.time + 1 == request.time", "+ does not accept timestamp, int"],
    ["resource.path && true", "&& does not accept string, bool"],
    ["resource.path ? true : false", "must be bool before the question mark"],
    ["resource.path", "must be true or false, not a string"],
    ["1 + 1", "must be true or false, not a int"],
    ["timestamp('yesterday') < request.time", "2026-01-31T12:00:00Z"],
    ["request.time < timestamp('2027-02-30T00:00:00Z')", "2026-01-31T12:00:00Z"],
    ["request.time < timestamp('2026-01-31T24:00:00Z')", "2026-01-31T12:00:00Z"],
    ["duration('soon') < duration('1h')", "1h30m"],
    ["request.time.getHours('Europe/Nowhere') == 1", "Europe/Berlin"],
    ["request.time.getHours(context.zone) == 1", "time zone as a string literal"],
    ["context.a == context.b", "two attributes of unknown type cannot be compared"],
    ["context.a in context.b", "two attributes of unknown type cannot be compared"],
    ["resource.path.contains(context.part)", "a string literal of at most 250"],
    [`resource.path.contains("${"a".repeat(251)}")`, "a string literal of at most 250"],
    ["resource.path.matches('(a+)+$')", "matches is not allowed"],
    ["[1, 2].exists(x, x == 1)", "all, exists, exists_one, map and filter are not allowed"],
    ["context.l.all(x, context.l.all(y, x < y))", "are not allowed"],
    ["context.l.map(x, x) == [1]", "are not allowed"],
    ["{'a': true}.a", "map and message literals are not allowed"],
    ["google.protobuf.Timestamp{seconds: 1} < request.time", "map and message literals are not allowed"],
    [Array(26).fill("context.a == 1").join("||"), "more than 50 operators and calls"],
    [`${"(".repeat(101)}true${")".repeat(101)}`, "more than 100 brackets"],
    [`context${".a".repeat(101)} == 1`, "more than 100 levels deep"],
    [`context.a == 1${" ".repeat(101)}`, "more than 100 spaces or line ends in a row"],
    [`[true${"\n\t".repeat(51)}][0]`, "more than 100 spaces or line ends in a row"],
    [`resource.path == "${"a".repeat(2048)}"`, "at most 2048 characters"],
  ])("%s", (expression, problem) => {
    expect(checkCondition(expression)).toContain(problem);
    if (expression.length <= 2048) expect(() => compileCondition(expression)).toThrow(problem);
  });
});

/** The largest attributes that a check accepts. */
const text = "a".repeat(4000);
const values = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]));

test.each([
  ["time zones", Array(16).fill('request.time.getHours("Europe/Berlin") == 99').join(" || "), {}],
  ["sizes of a long text", Array(16).fill("size(context.text) == 1").join("||"), { text }],
  ["a search that almost matches", `context.text.contains("${"a".repeat(124)}b${"a".repeat(125)}")`, { text }],
  ["a comparison of a map with a list", Array(24).fill("context.map == [1]").join("||"), { map: values }],
  ["a long concatenation", `${Array(48).fill("context.text").join("+")} == ''`, { text }],
  ["a long text that is not a time", "timestamp(context.text) < request.time", { text }],
  ["missing keys", Array(24).fill("context.missing == 1").join("||"), {}],
])("a condition is evaluated quickly: %s", (_what, expression, context) => {
  const condition = compileCondition(expression);
  const run = (): void => {
    try {
      condition({ ...asked, context });
    } catch {
      // The cost of a failure counts, too.
    }
  };
  const ratio = ratioOf(run, () => Array.from(text));
  expect(ratio).toBeLessThan(100);
});
