// Compares the dependencies of a condition with its results: if a changed label, path or subject changes the result, the
// condition must depend on it.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ConditionContext,
  checkCondition,
  compileCondition,
  parseCondition,
} from "../../src/access/conditions/compile-condition.ts";
import {
  type ConditionDependencies,
  dependenciesOf,
  mayName,
  readsLabel,
} from "../../src/access/conditions/condition-dependencies.ts";
import { ConditionError } from "../../src/access/conditions/check-condition.ts";
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
  const parameters = fuzzParameters(400);
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

/** Conditions whose names are hidden by escapes, comments, white space and macros, also those that are not valid. */
const { whole: obfuscated } = fc.letrec<{ gap: string; name: string; value: string; whole: string }>((tie) => ({
  gap: fc.constantFrom("", " ", "\n", " // resource\n", "//subject\n"),
  name: fc.constantFrom(
    "resource",
    "subject",
    "context",
    ".resource",
    "request",
    "re\\u0073ource",
    "res",
    "`resource`",
    "r",
  ),
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie("name"),
    fc.constantFrom(
      `"labels"`,
      `"lab\\u0065ls"`,
      `'\\x72esource'`,
      `r"resource"`,
      `b"subject"`,
      `"""path"""`,
      "r''",
      "1",
      "null",
    ),
    fc
      .tuple(tie("value"), tie("gap"), tie("gap"), fc.constantFrom("path", "labels", "env", "resource", "type"))
      .map(([of, gap, other, field]) => `${of}${gap}.${other}${field}`),
    fc.tuple(tie("value"), tie("gap"), tie("value")).map(([of, gap, key]) => `${of}${gap}[${key}]`),
    fc.tuple(tie("value"), tie("gap"), tie("value")).map(([one, gap, other]) => `[${one},${gap}${other}]`),
    fc.tuple(tie("value"), tie("value")).map(([list, of]) => `${list}.exists(r, ${of} == r)`),
    tie("value").map((of) => `has(${of})`),
  ),
  whole: fc
    .tuple(tie("value"), tie("gap"), fc.constantFrom("==", "in", "+", "&&", "?1:"), tie("gap"), tie("value"))
    .map((parts) => parts.join("")),
}));

/** Returns the variables of a condition; undefined if it cannot be parsed. */
function namesIn(condition: string): ReadonlySet<string> | undefined {
  try {
    const names = new Set<string>();
    JSON.stringify(parseCondition(condition).expr, (key, value: unknown) => {
      if (key === "name") names.add(String(value));
      return typeof value === "bigint" ? String(value) : value;
    });
    return names;
  } catch (error) {
    if (error instanceof ConditionError) return undefined;
    throw error;
  }
}

test("a condition that reads the path, a label or the subject names the variable", () => {
  const parameters = fuzzParameters(2_000);
  const found = { resource: 0, subject: 0, none: 0 };
  fc.assert(
    fc.property(fc.oneof(conditions, obfuscated), (condition) => {
      const names = namesIn(condition);
      if (names === undefined) return;
      for (const name of ["resource", "subject"] as const) {
        if (names.has(name)) expect(mayName(condition, name), condition).toBe(true);
      }
      // What macros read is not known, and none is stored.
      if (condition.includes("exists")) return;
      const { subject: readsSubject, path, labels } = dependenciesOf(condition);
      const readsResource = path || labels === "any" || labels.size > 0;
      expect([names.has("subject"), names.has("resource")], condition).toEqual([readsSubject, readsResource]);
      if (readsSubject) found.subject++;
      if (readsResource) found.resource++;
      if (!readsSubject && !readsResource) found.none++;
    }),
    parameters,
  );
  if (parameters.numRuns < 1_000) return;
  expect(Math.min(...Object.values(found))).toBeGreaterThan(parameters.numRuns / 100);
});

test("a condition that names one label depends on no other", () => {
  for (const condition of [`resource.labels.team == "a"`, `"team" in resource.labels`, `has(resource.labels.team)`]) {
    expect(dependenciesOf(condition)).toEqual({ subject: false, path: false, labels: new Set(["team"]) });
  }
});

test.each<[condition: string, Partial<ConditionDependencies>]>([
  ["true", {}],
  ["request.time == request.time && context.env == 'dev'", {}],
  ["subject.type == 'member'", { subject: true }],
  ["subject == subject", { subject: true }],
  ["context.subject.path == 'x'", {}],
  ["resource.path == 'x'", { path: true }],
  ["context.path == 'x' && subject.path == 'x'", { subject: true }],
  ["resource == resource", { path: true, labels: "any" }],
  ["resource.labels.env == 'dev'", { labels: new Set(["env"]) }],
  ["has(resource.labels.env)", { labels: new Set(["env"]) }],
  ["resource.labels['env'] == resource.labels['a b']", { labels: new Set(["env", "a b"]) }],
  ["'env' in resource.labels", { labels: new Set(["env"]) }],
  ["resource.path in resource.labels", { path: true, labels: "any" }],
  ["resource.labels[subject.path] == ''", { subject: true, labels: "any" }],
  ["has(resource.labels)", { path: true, labels: "any" }],
  ["size(resource.labels) == 1", { labels: "any" }],
  ["context.labels['env'] == '' && 'env' in context.labels", {}],
  ["[resource.path, subject.path] == context.list", { subject: true, path: true }],
  ["'a'.startsWith(resource.path) ? true : subject.type == 'group'", { subject: true, path: true }],
  ["resource.labels.", { subject: true, path: true, labels: "any" }],
])("%s depends on %o, and on nothing else", (condition, reads) => {
  const none = { subject: false, path: false, labels: new Set<string>() };
  expect(dependenciesOf(condition)).toEqual({ ...none, ...reads });
});

test("a label is read if its key is among the keys, or any may be", () => {
  const keys = dependenciesOf("resource.labels.env == 'dev'");
  expect([readsLabel(keys, "env"), readsLabel(keys, "team")]).toEqual([true, false]);
  expect(readsLabel(dependenciesOf("size(resource.labels) == 1"), "team")).toBe(true);
});
