import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { parseSchema } from "../../src/json-schema/parse-schema.ts";
import { WorkExceeded, createWork } from "../../src/json-schema/work.ts";
import { rounds } from "../support/rounds.ts";

const plenty = 1_000_000;
const parse = (schema: JsonValue) => parseSchema(schema, createWork(plenty));
const isValid = (schema: JsonValue, value: JsonValue): boolean =>
  parse(schema).validate(value, createWork(plenty), 100).length === 0;

const keywordsOf = (schema: JsonValue, value: JsonValue): string[] =>
  parse(schema)
    .validate(value, createWork(plenty), 100)
    .map(({ keyword }) => keyword);

const long = "x".repeat(10_000);

const unicodeClasses = (size: number): JsonValue => ({
  pattern: Array.from({ length: size }, (_, index) => `[\\p{L}${String.fromCodePoint(0x2000 + index)}]`).join(""),
});
const belowName = (name: string, size: number): JsonValue => ({
  properties: { [name]: { allOf: Array.from({ length: size }, () => true) } },
});
const relativeTo = (name: string, size: number): JsonValue => ({
  $id: `https://schema.example/${name}/`,
  $defs: Object.fromEntries(Array.from({ length: size }, (_, index) => [`d${index}`, { $id: `i${index}` }])),
});

/** Returns how many steps a validation takes. */
const stepsOf = (schema: JsonValue, value: JsonValue): number => {
  const work = createWork(plenty);
  parse(schema).validate(value, work, 100);
  return plenty - work.left;
};

const names = ["a", "b", "c"];
const name = fc.constantFrom(...names);
const count = fc.nat({ max: 3 });

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<JsonValue[]>(null, true, 0, 1, 2.5, -0, 6, "", "a", "aab", "😀"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

/** Schemas without references. */
const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => {
  const schemas = fc.array(tie("schema"), { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(name, tie("schema"), { maxKeys: 3, noNullPrototype: true });
  const texts = fc.uniqueArray(name, { maxLength: 2 });
  const type = fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object");
  const keywords = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    const: value,
    multipleOf: fc.constantFrom(1, 0.5, 3),
    maximum: count,
    exclusiveMaximum: count,
    minimum: count,
    exclusiveMinimum: count,
    maxLength: count,
    minLength: count,
    pattern: fc.constantFrom("^a", "a+b", "[^b]$"),
    maxItems: count,
    minItems: count,
    uniqueItems: fc.boolean(),
    prefixItems: schemas,
    items: tie("schema"),
    contains: tie("schema"),
    minContains: count,
    maxContains: count,
    maxProperties: count,
    minProperties: count,
    required: texts,
    dependentRequired: fc.dictionary(name, texts, { maxKeys: 2, noNullPrototype: true }),
    properties: map,
    patternProperties: fc.dictionary(fc.constantFrom("^a", "b", "[bc]"), tie("schema"), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    additionalProperties: tie("schema"),
    propertyNames: tie("schema"),
    unevaluatedItems: tie("schema"),
    unevaluatedProperties: tie("schema"),
    dependentSchemas: map,
    allOf: schemas,
    anyOf: schemas,
    oneOf: schemas,
    not: tie("schema"),
    if: tie("schema"),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema.
    then: tie("schema"),
    else: tie("schema"),
  };
  const keyword = fc.constantFrom(...(Object.keys(keywords) as (keyof typeof keywords)[]));
  const pairs = keyword.chain((each) => fc.tuple(fc.constant(each), keywords[each] as fc.Arbitrary<JsonValue>));
  return {
    schema: fc.oneof(
      { depthSize: "small" },
      fc.boolean(),
      fc.array(pairs, { maxLength: 4 }).map((each): JsonObject => Object.fromEntries(each)),
    ),
  };
});

test("schemas mean what they mean for another implementation", () => {
  // Ajv compiles each schema to code, which takes long.
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 5, maxLength: 20 }), (drawn, values) => {
      // With `prefixItems` beside it, Ajv accepts an empty array for `contains: false`.
      const text = JSON.stringify(drawn);
      fc.pre(!(text.includes('"contains"') && text.includes('"prefixItems"')));
      // Items that `contains` has found are evaluated, and no others (JSON Schema 2020-12, 11.2). Ajv takes all or none for evaluated.
      fc.pre(!(text.includes('"contains"') && text.includes('"unevaluatedItems"')));
      // What only a branch has looked at that did not hold is not evaluated, and what is beside a branch is not evaluated in it (11.2, 11.3
      // and 10.2.1.3). To Ajv, both are.
      fc.pre(!(/"(?:allOf|anyOf|oneOf|not|if|dependentSchemas)"/.test(text) && text.includes('"unevaluated')));
      const theirs = new Ajv2020({ strict: false, logger: false, validateSchema: false, meta: false }).compile(
        drawn as object,
      );
      for (const each of values) expect([each, isValid(drawn, each)]).toEqual([each, theirs(each)]);
    }),
    // Where Ajv differs that nobody has found yet is found by the soak.
    rounds({ numRuns: 150, seed: 1 }, { numRuns: 100_000 }),
  );
});

describe("a reference", () => {
  const list: JsonObject = {
    $id: "https://example.com/list",
    $defs: { item: { $dynamicAnchor: "item" }, "a/b~%": { $anchor: "named", type: "string" } },
    type: "array",
    items: { $dynamicRef: "#item" },
  };

  test.each<[string, JsonObject, JsonValue, JsonValue]>([
    ["to a pointer", { $defs: { "a/b~": { type: "null" } }, $ref: "#/$defs/a~1b~0" }, null, 1],
    ["to an anchor", { $defs: { a: { $anchor: "x", type: "null" } }, $ref: "#x" }, null, 1],
    ["to an identifier", { $defs: { list }, $ref: "https://example.com/list#named" }, "", 1],
    ["that is relative", { $id: "https://example.com/", $defs: { list }, $ref: "list" }, [1], 1],
    [
      "that is dynamic",
      {
        $id: "numbers",
        $defs: { list, item: { $dynamicAnchor: "item", type: "number" } },
        $ref: "https://example.com/list",
      },
      [1],
      ["a"],
    ],
    [
      "to the whole",
      { properties: { a: { $ref: "#" } }, additionalProperties: false },
      { a: { a: {} } },
      { a: { b: 1 } },
    ],
  ])("%s leads to a schema", (_name, drawn, accepted, refused) => {
    expect([isValid(drawn, accepted), isValid(drawn, refused)]).toEqual([true, false]);
  });

  test.each<[JsonObject, string]>([
    [{ $ref: "https://example.com/other" }, '#/$ref: can\'t resolve reference "https://example.com/other"'],
    [{ $ref: "#/properties" }, "can't resolve reference"],
    [{ items: { $dynamicRef: "#none" } }, "#/items/$dynamicRef: can't resolve reference"],
    [{ $ref: "#" }, "#: refers to itself for the same value"],
    [{ $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } } }, "refers to itself"],
  ])("in %j is refused", (drawn, problem) => {
    expect(() => parse(drawn)).toThrow(problem);
  });
});

test.each<[JsonValue, string]>([
  [{ type: "text" }, "#/type: must be one of null, boolean"],
  [{ properties: { a: { minimum: "1" } } }, "#/properties/a/minimum: must be number"],
  [{ properties: { a: 1 } }, "#/properties/a: must be object,boolean"],
  [{ required: ["a", "a"] }, "#/required: must not name anything twice"],
  [{ items: { patern: "a" } }, '#/items: unknown keyword "patern"'],
  [{ patternProperties: { "(?=a)": {} } }, 'the pattern "(?=a)" must be one without look-around'],
  [{ $async: true }, 'unknown keyword "$async"'],
  [{ $schema: "http://json-schema.org/draft-07/schema" }, "must be https://json-schema.org/draft/2020-12/schema"],
  [{ enum: [] }, "#/enum: must be an array with at least one value"],
])("the schema %j is refused, and the error names the place", (drawn, problem) => {
  expect(() => parse(drawn)).toThrow(problem);
});

describe("the length", () => {
  const nestedIn = (depth: number): JsonObject => {
    let inner: JsonObject = {};
    for (let level = 0; level < depth; level++) inner = { items: inner };
    return inner;
  };
  /** References of which each is to two of the next. */
  const doubling = (times: number): JsonObject => {
    const defs = Array.from({ length: times }, (_, index): [string, JsonObject] => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, index === times - 1 ? { type: "object" } : { allOf: [next, next] }];
    });
    return { $defs: Object.fromEntries(defs), $ref: "#/$defs/d0" };
  };

  test.each<[string, JsonObject, JsonObject, string]>([
    ["levels", nestedIn(64), nestedIn(65), "more than 64 levels deep"],
    [
      "keywords",
      { allOf: Array.from({ length: 1_300 }, () => ({ minimum: 1 })) },
      { allOf: Array.from({ length: 2_100 }, () => ({ minimum: 1 })) },
      "more than 4096",
    ],
    ["repeated references", doubling(12), doubling(24), "repeats its references"],
  ])("of a schema in %s is limited", (_name, accepted, refused, problem) => {
    expect(() => parse(accepted)).not.toThrow();
    expect(() => parse(refused)).toThrow(problem);
  });

  test("of the work to read a schema is limited, with its patterns", () => {
    const schemas = Array.from({ length: 20 }, (_, index) => ({ pattern: `${index}(?:ab){200}` }));
    expect(() => parseSchema({ allOf: schemas }, createWork(20_000))).not.toThrow();
    expect(() => parseSchema({ allOf: schemas }, createWork(8_000))).toThrow(WorkExceeded);
  });

  test.each<[what: string, accepted: JsonValue, refused: JsonValue]>([
    ["properties of Unicode", unicodeClasses(20), unicodeClasses(1_900)],
    ["schemas below a long name", belowName("n", 1_000), belowName("n".repeat(20_000), 1_000)],
    ["identifiers relative to a long one", relativeTo("n", 1_000), relativeTo("n".repeat(20_000), 1_000)],
  ])("of the work to read %s is limited", (_name, accepted, refused) => {
    expect(() => parseSchema(accepted, createWork(20_000))).not.toThrow();
    expect(() => parseSchema(refused, createWork(20_000))).toThrow(WorkExceeded);
  });

  test.each<[what: string, schema: JsonValue]>([
    ["a constant", { items: { const: long } }],
    ["a required name", { items: { required: [long] } }],
    ["a dependency", { items: { dependentRequired: { a: [long] } } }],
  ])("of the work to tell about %s does not grow with its length", (_name, teller) => {
    const items = Array.from({ length: 5_000 }, () => ({ a: 1 }));
    const { validate } = parse(teller);
    using stringify = vi.spyOn(JSON, "stringify");
    validate(items, createWork(plenty), 100);
    expect(Math.max(...stringify.mock.results.map((each) => String(each.value).length))).toBeLessThan(200);
  });

  test.each(["patternProperties", "additionalProperties"])(
    "of %s grows with the value, also if its first is wrong",
    (keyword) => {
      const wrong = { [keyword]: keyword === "patternProperties" ? { "^": { type: "string" } } : { type: "string" } };
      const object = (size: number) =>
        Object.fromEntries(Array.from({ length: size }, (_, index) => [`a${index}`, index]));
      expect(stepsOf({ not: wrong }, object(1_000))).toBeGreaterThan(1_000);
    },
  );

  test("of the work to find equal items grows with the items", () => {
    const unique = { uniqueItems: true };
    const items = (length: number) => Array.from({ length }, (_, index) => ({ index, of: [{ index }] }));
    expect(stepsOf(unique, items(2_000))).toBeLessThan(2.2 * stepsOf(unique, items(1_000)));
    expect(keywordsOf(unique, [...items(10), { of: [{ index: 3 }], index: 3 }])).toEqual(["uniqueItems"]);
    expect(isValid(unique, [1, "1", true, [1], { a: 1 }, { b: 1 }, null, "null"])).toBe(true);
  });

  test("of a validation that doubles with each level of the value is limited", () => {
    const inner = { properties: { a: { $ref: "#/$defs/n" } } };
    const tree = {
      $defs: {
        n: {
          oneOf: [
            { ...inner, required: ["x"] },
            { ...inner, required: ["y"] },
          ],
        },
      },
      $ref: "#/$defs/n",
    };
    let deep: JsonObject = { x: 1 };
    for (let level = 0; level < 90; level++) deep = { a: deep, x: 1, y: 1 };
    expect(() => parse(tree).validate(deep, createWork(100_000), 100)).toThrow(WorkExceeded);
  });
});
