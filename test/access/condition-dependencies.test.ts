// Compares the dependencies of a condition with its results: if a changed label, path or subject changes the result, the
// condition must depend on it.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ConditionContext,
  checkCondition,
  compileCondition,
} from "../../src/access/conditions/compile-condition.ts";
import { dependenciesOf, readsLabel } from "../../src/access/conditions/condition-dependencies.ts";
import { fuzzParameters } from "../support/fuzz-parameters.ts";

const { bool: conditions } = fc.letrec<{ text: string; bool: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(
      `"env"`,
      `'team'`,
      `"e"`,
      `"nv"`,
      `"dev"`,
      `"/orgs/acme"`,
      `"/orgs/acme/members/alice"`,
      `""`,
      "context.key",
      "resource.path",
      "subject.path",
      "subject.type",
    ),
    fc.constantFrom("resource.labels.env", "resource.labels.team", "resource . labels . env", ".resource.labels.env"),
    fc.tuple(tie("text"), tie("text")).map(([one, other]) => `(${one} + ${other})`),
    tie("text").map((key) => `resource.labels[${key}]`),
    fc.tuple(tie("bool"), tie("text"), tie("text")).map(([when, one, other]) => `(${when} ? ${one} : ${other})`),
  ),
  bool: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.tuple(tie("text"), tie("text")).map(([one, other]) => `${one} == ${other}`),
    fc.tuple(tie("text"), tie("text")).map(([one, other]) => `${one}.contains("e") || ${one} != ${other}`),
    tie("text").map((key) => `${key} in resource.labels`),
    fc.constantFrom(`resource.path == "/orgs/acme"`, `subject.path.endsWith("/e")`, `subject.path > resource.path`),
    fc.constantFrom(`size(subject.path) > 22`, `size(resource.path) > 9`),
    fc.constantFrom("has(resource.labels.env)", "has(resource.labels.team)", "size(resource.labels) > 1"),
    fc.constantFrom("resource.labels == context.labels", `"env" in context.labels`, "true"),
    fc.tuple(tie("bool"), tie("bool")).map(([one, other]) => `(${one} && ${other})`),
    tie("bool").map((one) => `!(${one})`),
    fc.tuple(tie("text"), tie("text")).map(([one, other]) => `${one} in [${other}, "dev"]`),
  ),
}));

const before: ConditionContext = {
  request: { time: new Date("2026-01-01") },
  resource: { path: "/orgs/acme", labels: { team: "a" } },
  subject: { path: "/orgs/acme/members/alice", type: "member" },
  context: { key: "env", labels: { team: "a", env: "dev" } },
};
const { resource, subject } = before;

const changes: Readonly<Record<string, readonly [ConditionContext, (condition: string) => boolean]>> = {
  "an added label": [
    { ...before, resource: { ...resource, labels: { team: "a", env: "dev" } } },
    (condition) => readsLabel(dependenciesOf(condition), "env"),
  ],
  "a changed label": [
    { ...before, resource: { ...resource, labels: { team: "dev" } } },
    (condition) => readsLabel(dependenciesOf(condition), "team"),
  ],
  "the path": [
    { ...before, resource: { ...resource, path: "/orgs/dev" } },
    (condition) => dependenciesOf(condition).path,
  ],
  "the subject": [
    { ...before, subject: { ...subject, path: "/orgs/acme/members/e" } },
    (condition) => dependenciesOf(condition).subject,
  ],
};

function resultOf(condition: ReturnType<typeof compileCondition>, context: ConditionContext): unknown {
  try {
    return condition(context);
  } catch {
    return "fails";
  }
}

test("a condition that changes with a label, the path or the subject depends on it", () => {
  const parameters = fuzzParameters(1_000);
  const differing = Object.fromEntries(Object.keys(changes).map((what) => [what, 0]));
  fc.assert(
    fc.property(conditions, (condition) => {
      if (checkCondition(condition) !== undefined) return;
      const compiled = compileCondition(condition);
      for (const [what, [after, reads]] of Object.entries(changes)) {
        if (resultOf(compiled, before) === resultOf(compiled, after)) continue;
        differing[what] = (differing[what] ?? 0) + 1;
        expect(reads(condition), `${what}: ${condition}`).toBe(true);
      }
    }),
    parameters,
  );
  // Of a hundred conditions, one or two depend on the rarest change. By chance, a short run may have none.
  if (parameters.numRuns < 10_000) return;
  expect(Math.min(...Object.values(differing))).toBeGreaterThan(parameters.numRuns / 500);
});

test("a condition that names one label depends on no other", () => {
  for (const condition of [`resource.labels.team == "a"`, `"team" in resource.labels`, `has(resource.labels.team)`]) {
    expect(dependenciesOf(condition)).toEqual({ subject: false, path: false, labels: new Set(["team"]) });
  }
});
