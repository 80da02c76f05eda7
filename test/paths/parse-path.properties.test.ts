import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../src/errors/service-error.ts";
import { formatReferences } from "../../src/paths/format-path.ts";
import { type PathPattern, patterns } from "../../src/paths/patterns.ts";
import { type Reference, parseResourcePath } from "../../src/paths/parse-path.ts";
import { encodeSome, reference, referenceIn, spell } from "./references.ts";
import { outcomeOf } from "./service-failure.ts";

const pattern: fc.Arbitrary<PathPattern> = fc.constantFrom(...Object.values(patterns));

/** A pattern, and a reference for each of its levels. */
const path = pattern.chain((levels) =>
  fc.record({ levels: fc.constant(levels), references: fc.tuple(...levels.map(referenceIn)) }),
);

const parse = (levels: PathPattern, text: string) => parseResourcePath(levels, text, "path", "anywhere");

describe("every path", () => {
  test("parses to the references that it was formatted from, with or without a leading slash", () => {
    fc.assert(
      fc.property(path, ({ levels, references }) => {
        const text = formatReferences(levels, references);
        expect(text.startsWith("/")).toBe(true);
        expect(parse(levels, text)).toEqual(references);
        expect(parse(levels, text.slice(1))).toEqual(references);
      }),
    );
  });

  test("parses to the same references whichever characters are percent-encoded", () => {
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

  test("differs from the path of any other references", () => {
    fc.assert(
      fc.property(nearTwins, ([one, other]) => {
        const isSame = one.by === other.by && spell(one) === spell(other);
        const texts = [one, other].map((written) => formatReferences(patterns.Org, [written]));
        expect(texts[0] === texts[1]).toBe(isSame);
      }),
    );
  });

  test("does not match any other pattern", () => {
    fc.assert(
      fc.property(path, pattern, ({ levels, references }, other) => {
        fc.pre(other.join() !== levels.join());
        expect(() => parse(other, formatReferences(levels, references))).toThrow(ServiceError);
      }),
    );
  });

  test("refers to one resource if wildcards are not allowed", () => {
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

/** Pairs that are arbitrary, equal, or the same text as an id and as a name. */
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
    // Text similar to a path, which reaches every branch of the parser.
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

  test("is either a valid path or rejected with PATH_INVALID and the name of the field", () => {
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

/** Reports whether the error has the documented form. Its message contains the input only escaped and truncated. */
function isRefusal({ reason, violations, message }: ServiceError, field: string): boolean {
  return (
    reason === "PATH_INVALID" &&
    violations.length === 1 &&
    violations[0]?.field === field &&
    message.length < 800 &&
    Array.from(message).every((character) => character >= " ")
  );
}
