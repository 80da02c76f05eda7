import fc from "fast-check";
import { expect, test } from "vitest";
import { compilePattern } from "../../src/json-schema/patterns/pattern.ts";
import { createWork } from "../../src/json-schema/work.ts";
import { rounds } from "../support/rounds.ts";

const plenty = 1_000_000;
const compile = (text: string) => compilePattern(text, "#/pattern", createWork(plenty));

/** Returns how many steps it takes to match a text. */
const stepsOf = (pattern: string, text: string): number => {
  const work = createWork(plenty);
  compile(pattern).test(text, work);
  return plenty - work.left;
};

const { expression } = fc.letrec<{ expression: string; atom: string; term: string }>((tie) => ({
  atom: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("a", "b", "é", "😀", ".", "\\d", "\\W", "\\s", "\\.", "\\/", "[a-c]", "[^a]", "[\\]b-]"),
    fc.constantFrom(
      "\\p{L}",
      "\\P{Lu}",
      "\\u0061",
      "\\u{1F600}",
      "\\ud83d\\ude00",
      "\\x62",
      "[\\s\\S]",
      "[]",
      "[^]",
      "\\cA",
      "\\t",
    ),
    fc.tuple(fc.constantFrom("(", "(?:"), tie("expression")).map(([start, inner]) => `${start}${inner})`),
  ),
  term: fc.oneof(
    fc.constantFrom("^", "$", "\\b", "\\B"),
    fc
      .tuple(tie("atom"), fc.constantFrom("", "", "*", "+", "?", "*?", "{2}", "{0}", "{1,}", "{0,2}", "{1,3}?"))
      .map((parts) => parts.join("")),
  ),
  expression: fc
    .array(fc.array(tie("term"), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((alternatives) => alternatives.map((terms) => terms.join("")).join("|")),
}));

const subject = fc.array(fc.constantFrom("a", "b", "c", "é", "😀", " ", "\n", ".", "-", "1", "A"), { maxLength: 6 });

test("a pattern matches what it matches as a regular expression of ECMA-262", () => {
  fc.assert(
    fc.property(expression, fc.array(subject, { minLength: 1, maxLength: 8 }), (pattern, subjects) => {
      const [ours, theirs] = [compile(pattern), new RegExp(pattern, "u")];
      for (const parts of subjects) {
        // V8 also looks for \\B between the two halves of a character, where ECMA-262 does not.
        const text = parts.join("").replaceAll(pattern.includes("\\B") ? "😀" : "", "");
        expect([text, ours.test(text, createWork(plenty))]).toEqual([text, theirs.test(text)]);
      }
    }),
    { numRuns: rounds(500, 1_000_000) },
  );
});

test.each([
  ["(?<zone>[a-z]+)-\\k", "zone-"],
  ["^[a-z0-9-]{1,63}$", "web-1"],
  ["^\\p{Script=Greek}+$", "αβγ"],
  ["^\\p{Letter}{2}$", "éa"],
])("%s can name groups and Unicode's properties", (pattern, text) => {
  const named = pattern.replace("\\k", "");
  expect(compile(named).test(text, createWork(plenty))).toBe(true);
  expect(compile(named).test("!", createWork(plenty))).toBe(false);
});

test.each(["^(a|a)*$", "^(a+)+$", "(.*)*x", "^(.*.*.*)*$", "(a?){40}$", "^(([a-z])+.)+[A-Z]([a-z])+$"])(
  "%s takes as many steps as the text is long",
  (pattern) => {
    const [short, long] = [stepsOf(pattern, `${"a".repeat(500)}!`), stepsOf(pattern, `${"a".repeat(1_000)}!`)];
    expect(long).toBeLessThan(2.2 * short);
  },
);

test.each([
  ["(?=a)b", "without look-around"],
  ["(?<!a)b", "without look-around"],
  ["(a)\\1", "the back-reference \\1"],
  ["(?<x>a)\\k<x>", "the back-reference \\k<x>"],
  ["(", "must be a regular expression of ECMA-262"],
  ["(a{1,100}){1,100}", "it has the size 10000, and at most 2000"],
  ["(?:(?:\\p{L}\\p{N}){40}){40}", "at most 2000"],
  [`${"(".repeat(60)}${")".repeat(60)}`, "nested more than 50 deep"],
])("%s is refused, and the error names it", (pattern, problem) => {
  expect(() => compile(pattern)).toThrow(problem);
  expect(() => compile(pattern)).toThrow(JSON.stringify(pattern));
});
