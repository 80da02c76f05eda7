import { expect, test } from "vitest";
import { dependenciesOf } from "../../src/access/conditions/condition-dependencies.ts";
import { createKnownDependencies } from "../../src/access/conditions/known-dependencies.ts";

/** Reads a text unless it is known, as those do who ask. Returns the texts that were parsed. */
function readEach(texts: readonly string[], maxCharacters?: number): string[] {
  const parsed: string[] = [];
  const known = createKnownDependencies((condition) => {
    parsed.push(condition);
    return dependenciesOf(condition);
  }, maxCharacters);
  for (const text of texts) expect(known.find(text) ?? known.read(text)).toEqual(dependenciesOf(text));
  return parsed;
}

const [one, two, three] = [
  "resource.labels.a == ''",
  "resource.labels.b == ''",
  "subject.path == resource.path",
] as const;

test("a text is parsed once", () => {
  expect(readEach([one, two, one, three, two, one])).toEqual([one, two, three]);
});

test("those that were read first are forgotten when there is no room, and one that has none is not kept", () => {
  expect(readEach([one, two, one, three, two, one], two.length + three.length)).toEqual([one, two, three, one]);
  expect(readEach([one, two, two, one], one.length - 1)).toEqual([one, two, two, one]);
});

test("a text that is read again takes no more room", () => {
  const known = createKnownDependencies(dependenciesOf, one.length + two.length);
  for (const text of [one, two, two, two]) known.read(text);
  expect([one, two].map((text) => known.find(text) !== undefined)).toEqual([true, true]);
});
