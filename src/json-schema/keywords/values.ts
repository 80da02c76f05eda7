// Keywords about single values: `type`, `enum`, `const`, and those about numbers and texts.
import type { JsonValue } from "@bufbuild/protobuf";
import { canonicalOf } from "../canonical.ts";
import {
  type KeywordReader,
  type Keywords,
  type ReadKeyword,
  isObject,
  readBoolean,
  readCount,
  readNumber,
  readText,
  readTexts,
  show,
} from "../keyword.ts";
import { type Check, fails } from "../node.ts";
import { createWork, spend } from "../work.ts";

const types: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  integer: (value) => Number.isInteger(value),
  number: (value) => Number.isFinite(value),
  string: (value) => typeof value === "string",
  array: (value) => Array.isArray(value),
  object: isObject,
};

function readType({ value, schema, fail }: KeywordReader): Check {
  const names = typeof value === "string" ? [value] : readTexts(value, fail);
  const accepted = `must be one of ${Object.keys(types).join(", ")}, or several of them`;
  if (names.length === 0) fail(accepted);
  const tests = names.map((name) => (Object.hasOwn(types, name) ? types[name] : undefined) ?? fail(accepted));
  const isNullable = schema["nullable"] === true;
  return (visit) =>
    (isNullable && visit.value === null) ||
    tests.some((test) => test(visit.value)) ||
    fails(visit, "type", `must be ${names.join(",")}`);
}

/** An enum is in the schema, whose length is limited. */
const unlimited = (): ReturnType<typeof createWork> => createWork(Number.POSITIVE_INFINITY);

const maxNamed = 10;

function readEnum({ value, fail }: KeywordReader): Check {
  if (!Array.isArray(value) || value.length === 0) return fail("must be an array with at least one value");
  const accepted = new Set(value.map((each) => canonicalOf(each, unlimited())));
  const named = value.slice(0, maxNamed).map(show).join(", ");
  const description = `must be one of ${named}${value.length > maxNamed ? ", ..." : ""}`;
  return (visit) => accepted.has(canonicalOf(visit.value, visit.work)) || fails(visit, "enum", description);
}

function readConst({ value }: KeywordReader): Check {
  const accepted = canonicalOf(value, unlimited());
  const description = `must be ${show(value)}`;
  return (visit) => canonicalOf(visit.value, visit.work) === accepted || fails(visit, "const", description);
}

const limit =
  (sign: string, compare: (value: number, limit: number) => boolean): ReadKeyword =>
  (reader) => {
    const least = readNumber(reader);
    return (visit) =>
      typeof visit.value !== "number" ||
      compare(visit.value, least) ||
      fails(visit, reader.keyword, `must be ${sign} ${least}`);
  };

function readMultipleOf(reader: KeywordReader): Check {
  const step = readNumber(reader);
  if (step <= 0) reader.fail("must be > 0");
  return (visit) =>
    typeof visit.value !== "number" ||
    Number.isInteger(visit.value / step) ||
    fails(visit, "multipleOf", `must be multiple of ${step}`);
}

/** So many characters are counted in one step. */
const charactersOfStep = 16;

/** Returns how many characters take two places. */
function countPairs(text: string): number {
  let pairs = 0;
  // What is stored has no surrogates that are not in a pair.
  for (let index = 0; index < text.length; index++) if ((text.charCodeAt(index) & 0xfc00) === 0xd800) pairs++;
  return pairs;
}

/** A keyword that limits the number of characters, which are those of Unicode. */
const length =
  (word: string, compare: (count: number, limit: number) => boolean): ReadKeyword =>
  (reader) => {
    const count = readCount(reader);
    return (visit) => {
      const { value, work } = visit;
      if (typeof value !== "string") return true;
      spend(work, value.length / charactersOfStep);
      const characters = value.length - countPairs(value);
      return (
        compare(characters, count) || fails(visit, reader.keyword, `must NOT have ${word} than ${count} characters`)
      );
    };
  };

function readPattern(reader: KeywordReader): Check {
  const pattern = reader.compile(readText(reader));
  const description = `must match pattern ${show(pattern.text)}`;
  return (visit) =>
    typeof visit.value !== "string" || pattern.test(visit.value, visit.work) || fails(visit, "pattern", description);
}

function readNullable(reader: KeywordReader): undefined {
  readBoolean(reader);
  if (reader.schema["type"] === undefined) reader.fail('cannot be used without "type"');
  return undefined;
}

export const valueKeywords: Keywords = {
  type: readType,
  nullable: readNullable,
  enum: readEnum,
  const: readConst,
  multipleOf: readMultipleOf,
  maximum: limit("<=", (value, most) => value <= most),
  exclusiveMaximum: limit("<", (value, most) => value < most),
  minimum: limit(">=", (value, least) => value >= least),
  exclusiveMinimum: limit(">", (value, least) => value > least),
  maxLength: length("more", (count, most) => count <= most),
  minLength: length("fewer", (count, least) => count >= least),
  pattern: readPattern,
};
