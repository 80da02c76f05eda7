import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../src/errors/service-error.ts";
import { formatReferences } from "../../src/paths/format-path.ts";
import { type PathPattern, patterns } from "../../src/paths/patterns.ts";
import { type Reference, parseResourcePath } from "../../src/paths/resource-path.ts";
import { encodeSome, reference, spell } from "./references.ts";
import { outcomeOf } from "./service-failure.ts";

const pattern: fc.Arbitrary<PathPattern> = fc.constantFrom(...Object.values(patterns));

/** A pattern and as many references as it has levels. */
const path = pattern.chain((levels) =>
  fc.record({ levels: fc.constant(levels), references: fc.tuple(...levels.map(() => reference)) }),
);

const parse = (levels: PathPattern, text: string) => parseResourcePath(levels, text, "path", "anywhere");

describe("every path", () => {
  test("reads back as the references that it was formatted from, with and without the slash", () => {
    fc.assert(
      fc.property(path, ({ levels, references }) => {
        const text = formatReferences(levels, references);
        expect(text.startsWith("/")).toBe(true);
        expect(parse(levels, text)).toEqual(references);
        expect(parse(levels, text.slice(1))).toEqual(references);
      }),
    );
  });

  test("reads the same whichever characters of its references are percent-encoded", () => {
    const encoded = path.chain(({ levels, references }) =>
      fc.record({
        levels: fc.constant(levels),
        references: fc.constant(references),
        spellings: fc.tuple(...references.map((written) => encodeSome(spell(written)))),
      }),
    );
    fc.assert(
      fc.property(encoded, ({ levels, references, spellings }) => {
        const text = levels.map((collection, level) => `/${collection}/${spellings[level]}`).join("");
        expect(parse(levels, text)).toEqual(references);
      }),
    );
  });

  test("is formatted otherwise than the path of any other references", () => {
    fc.assert(
      fc.property(nearTwins, ([one, other]) => {
        const isSame = one.by === other.by && spell(one) === spell(other);
        const texts = [one, other].map((written) => formatReferences(patterns.Org, [written]));
        expect(texts[0] === texts[1]).toBe(isSame);
      }),
    );
  });

  test("is read by no other pattern", () => {
    fc.assert(
      fc.property(path, pattern, ({ levels, references }, other) => {
        fc.pre(other.join() !== levels.join());
        expect(() => parse(other, formatReferences(levels, references))).toThrow(ServiceError);
      }),
    );
  });

  test("names one resource only, when no wildcard is allowed", () => {
    fc.assert(
      fc.property(path, ({ levels, references }) => {
        const text = formatReferences(levels, references);
        const hasWildcard = references.some((written) => written.by === "any");
        const outcome = outcomeOf(() => parseResourcePath<PathPattern>(levels, text, "path"));
        expect(outcome instanceof ServiceError ? [] : outcome).toEqual(hasWildcard ? [] : references);
      }),
    );
  });
});

/** References that differ in kind alone: the same text as a name and as an id, upper and lower case. */
const nearTwins: fc.Arbitrary<[Reference, Reference]> = fc.oneof(
  fc.tuple(reference, reference),
  fc.uuid().map((value): [Reference, Reference] => [
    { by: "id", value },
    { by: "name", value },
  ]),
  reference.map((written): [Reference, Reference] => [written, { ...written }]),
);

describe("any text", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    // Close to a path, so that every branch of the parser is reached.
    fc
      .array(
        fc.constantFrom("/", "orgs", "members", "groups", "acme", "@", "-", "%", "%2", "%2f", "%C3", "\ud800", "é"),
        {
          maxLength: 12,
        },
      )
      .map((parts) => parts.join("")),
    fc
      .string({ unit: fc.constantFrom("\ud83d", "\ude00", "%", "/", "a"), maxLength: 40 })
      .map((tail) => `orgs/${tail}`),
  );
  const field = fc.constantFrom("path", "parent_path", "member.member_path");
  const wildcards = fc.constantFrom("nowhere" as const, "above-id" as const, "anywhere" as const);

  test("is either a path or refused as PATH_INVALID with the field's name, and nothing else happens", () => {
    fc.assert(
      fc.property(pattern, text, field, wildcards, (levels, input, name, allowed) => {
        const outcome = outcomeOf(() => parseResourcePath(levels, input, name, allowed));
        const isExpected =
          outcome instanceof ServiceError ? isRefusal(outcome, name) : outcome.length === levels.length;
        expect(isExpected).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Whether an error is what the grammar promises; nothing of the input reaches its message unescaped or at length. */
function isRefusal({ reason, violations, message }: ServiceError, field: string): boolean {
  return (
    reason === "PATH_INVALID" &&
    violations.length === 1 &&
    violations[0]?.field === field &&
    message.length < 800 &&
    Array.from(message).every((character) => character >= " ")
  );
}
