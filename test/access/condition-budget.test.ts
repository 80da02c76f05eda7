// Tests what the conditions of a request may cost, and whose results they share.
import { expect, test } from "vitest";
import type { ConditionContext } from "../../src/access/conditions/compile-condition.ts";
import { createRequestConditions } from "../../src/access/evaluation/condition-budget.ts";
import type { ServiceError } from "../../src/errors/service-error.ts";

const bare: ConditionContext = {
  request: { time: new Date(0) },
  resource: { path: "/orgs/acme", labels: {} },
  subject: { path: "/orgs/acme/members/alice", type: "member" },
  context: {},
};
/** Makes conditions cost twice as much: 256 characters as JSON. */
const doubling = { ...bare, context: { a: "x".repeat(248) } };

const tooCostly = (what: string, limit: string, help: string) => {
  const description = `the conditions that this ${what} needs cost more than ${limit}; ${help}`;
  return expect.objectContaining({
    reason: "LIMIT_EXCEEDED",
    message: description,
    metadata: { limit },
    quotas: [{ subject: "conditions", description }],
  }) as ServiceError;
};
const decisionTooCostly = tooCostly(
  "decision",
  "5000",
  "combine or remove conditional role bindings of the subject and its groups, or send a smaller context",
);
const requestTooCostly = tooCostly("request", "50000", "ask about fewer subjects, resources or permissions at once");

/** What attributes of this size add is small, but not nothing: `{}` has two characters. */
const empty = 1 + 2 / 256;

test("a decision may spend 5000, in several conditions", () => {
  const { spend } = createRequestConditions().startDecision();
  spend(2000 / empty, bare);
  spend(3000 / empty, bare);
  expect(() => spend(0.01, bare)).toThrow(decisionTooCostly);
});

test("a condition costs more the larger the attributes are", () => {
  const { spend } = createRequestConditions().startDecision();
  spend(2500, doubling);
  expect(() => spend(0.01, doubling)).toThrow(decisionTooCostly);
});

test("each decision has its own budget, and all decisions of a request share one of 50000", () => {
  const conditions = createRequestConditions();
  for (let decision = 0; decision < 10; decision++) conditions.startDecision().spend(2500, doubling);
  const { spend } = conditions.startDecision();
  expect(() => spend(0.01, bare)).toThrow(requestTooCostly);
  createRequestConditions().startDecision().spend(2500, doubling);
});

test("to look up a known result costs a twentieth of a part", () => {
  const { spend, spendOnKnown } = createRequestConditions().startDecision();
  spend(4999 / empty, bare);
  for (let lookups = 0; lookups < 19; lookups++) spendOnKnown();
  expect(() => {
    for (let lookups = 0; lookups < 2; lookups++) spendOnKnown();
  }).toThrow(decisionTooCostly);
});

test("results are shared by decisions about the same subject, target, labels, attributes, time and revision", () => {
  const conditions = createRequestConditions();
  const results = conditions.resultsOf("1", bare);
  results.set("true", true);
  expect(conditions.resultsOf("1", { ...bare, resource: { path: "/orgs/acme", labels: {} } })).toBe(results);
  const others: [string, ConditionContext][] = [
    ["2", bare],
    ["1", { ...bare, request: { time: new Date(1) } }],
    ["1", { ...bare, resource: { ...bare.resource, path: "/orgs/other" } }],
    ["1", { ...bare, resource: { ...bare.resource, labels: { env: "dev" } } }],
    ["1", { ...bare, subject: { ...bare.subject, path: "/orgs/acme/members/bob" } }],
    ["1", { ...bare, context: { a: "x" } }],
    // Attributes of another check are others, even if they look the same.
    ["1", { ...bare, context: {} }],
  ];
  const atTime = (revision: string, ms: number) =>
    conditions.resultsOf(revision, { ...bare, request: { time: new Date(ms) } });
  expect(atTime("1", 12)).not.toBe(atTime("11", 2));
  const found = new Set(others.map(([revision, context]) => conditions.resultsOf(revision, context)));
  expect(found.size).toBe(others.length);
  expect(found.has(results)).toBe(false);
});
