// Rules over claims: which are valid, of which claims they are true, and what claims they see.
import { expect, test } from "vitest";
import { checkClaimsRule, evaluateClaimsRule, readRuledClaims } from "../../src/access/conditions/claims-rule.ts";
import { required } from "../../src/errors/required.ts";

const person = {
  sub: "1",
  hd: "acme.example",
  level: 3,
  email_verified: true,
  groups: ["staff", "admins"],
  nothing: null,
  "https://acme.example/role": "lead",
};

const outcomeOf = (rule: string, claims: object): boolean | "fails" => {
  try {
    return evaluateClaimsRule(rule, required(readRuledClaims({ ...claims })));
  } catch {
    return "fails";
  }
};

test.each([
  ["true", true],
  ['claims.hd == "acme.example" && "staff" in claims.groups', true],
  ['"owners" in claims.groups', false],
  ["claims.level >= 3", true],
  ["claims.email_verified", true],
  ['claims["https://acme.example/role"].startsWith("le")', true],
  ["has(claims.groups) && size(claims.groups) == 2", true],
  ["has(claims.other)", false],
  ["has(claims.nothing)", false],
  ["claims.other == 1", "fails"],
  ['"staff" in claims.hd', "fails"],
  ["claims.level", "fails"],
  ["has(claims.toString) || has(claims.constructor) || has(claims.__proto__)", false],
])("%s: %s", (rule, expected) => {
  expect(checkClaimsRule(rule)).toBeUndefined();
  expect(outcomeOf(rule, person)).toBe(expected);
});

test.each([
  ["claims.groups.exists(g, g == 'x')", "at column 14: all, exists"],
  [
    "request.time > timestamp('2026-01-01T00:00:00Z')",
    "at column 1: unknown variable request; the only variable is claims",
  ],
  ["subject.path == 'x'", "unknown variable subject"],
  ["claims.a ==", "at column 10"],
  ["claims.name.matches('.*')", "matches is not allowed"],
  ["1", "must be true or false, not a int"],
  ["claims.a == claims.b", "two attributes of unknown type"],
])("%j is refused with where and why", (rule, problem) => {
  expect(checkClaimsRule(rule)).toContain(problem);
});

test("a rule that is too long is refused", () => {
  expect(checkClaimsRule("x".repeat(3_000))).toContain("must be at most 2048 characters");
});

const deep = (levels: number): unknown => (levels === 0 ? "x" : [deep(levels - 1)]);

test("claims have a bound on characters, values and levels, whatever they are", () => {
  const endless = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown;
  const many = Array.from({ length: 1_001 }, () => 1);
  for (const claim of ["x".repeat(16_384), many, deep(8), endless, { a: undefined }.a ?? (() => 1)])
    expect(readRuledClaims({ claim })).toBeUndefined();
  for (const claim of ["x".repeat(16_000), many.slice(2), deep(7)]) expect(readRuledClaims({ claim })).toBeDefined();
  expect(readRuledClaims(Object.fromEntries(many.map((_, index) => [`c${index}`, 1])))).toBeUndefined();
});

test("__proto__ is a claim as any other, and changes no other", () => {
  const claims = JSON.parse('{"__proto__": {"admin": true}, "a": {"__proto__": {"admin": true}}}') as object;
  expect(outcomeOf("has(claims.admin) || has(claims.a.admin)", claims)).toBe(false);
  expect(outcomeOf("claims.__proto__.admin && claims.a.__proto__.admin", claims)).toBe(true);
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test("a rule that would take long for large claims fails", () => {
  const list = Array.from({ length: 400 }, (_, index) => index).join(",");
  expect(outcomeOf(`claims.level in [${list}]`, person)).toBe(true);
  expect(outcomeOf(`claims.level in [${list}]`, { ...person, large: "x".repeat(16_000) })).toBe("fails");
});
