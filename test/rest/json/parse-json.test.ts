import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RestError } from "../../../src/rest/errors/rest-error.ts";
import { decodeUtf8, parseJson } from "../../../src/rest/json/parse-json.ts";
import { NumberText } from "../../../src/rest/json/number-text.ts";
import { toPlainJson } from "../../../src/rest/json/plain-json.ts";
import { ratioOf } from "../../support/cpu-time.ts";

function escape(key: string): string {
  return key.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

test("agrees with JSON.parse for JSON without duplicate keys", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
      const value: JsonValue = JSON.parse(text);
      expect(toPlainJson(parseJson(JSON.stringify(value, undefined, indent), 100))).toEqual(value);
    }),
  );
});

test.each([
  ['{"a":1,"a":2}', '"a" twice at character 7'],
  ['[{"b":{"a":1}},{"a":{"x":[],"x":{}}}]', '"x" twice at character 28'],
  ['{"\\u0061":1,"a":2}', '"a" twice'],
  ['{"a\\"":1,"a\\"":2}', "twice"],
  ['{"__proto__":1,"__proto__":2}', '"__proto__" twice'],
  ['{"a":1,"a":2', '"a" twice at character 7'],
  ['{"a":1,"a":[[[[[2]]]]]}', '"a" twice at character 7'],
])("rejects %s", (text, message) => {
  expect(() => parseJson(text, 4)).toThrow(message);
});

test("rejects a duplicate key in any object, however it is escaped", () => {
  const around = fc.constantFrom<[string, string]>(
    ["[", "]"],
    ['{":":', "}"],
    ['[{},"{",', "]"],
    ['{"\\"":[],"b":', "}"],
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.array(around, { maxLength: 4 }),
      ([first = "", ...others], isEscaped, layers) => {
        const member = (key: string): string => `${JSON.stringify(key)}:1`;
        const wrap = (text: string): string => layers.reduce((inner, [open, close]) => open + inner + close, text);
        const members = [first, ...others].map(member);
        const again = isEscaped ? `"${escape(first)}":{}` : member(first);
        expect(() => parseJson(wrap(`{${[...members, again].join()}}`), 100)).toThrow("twice");
        expect(parseJson(`{${members.join()}}`, 100)).toEqual(
          Object.fromEntries([first, ...others].map((key) => [key, 1])),
        );
        expect(() => parseJson(wrap(`{${members.join()}}`), 100)).not.toThrow();
      },
    ),
  );
});

test.each(['{"a":"a","b":["a","a"],"c":{"a":1}}', '["a","a"]', '[{"a":1},{"a":1}]', '{"a":"{\\"a\\":1,"}'])(
  "accepts %s",
  (text) => {
    expect(parseJson(text, 100)).toEqual(JSON.parse(text));
  },
);

test("reads keys with escapes whatever was parsed before, which JSON.parse of V8 does not", () => {
  const keys = ["\\", '"', "\n", "/", "a\\", 'a"', "aa", "\ue000", "\ue0001", "__proto__", "1"];
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...keys), { minLength: 1 }), fc.boolean(), (drawn, isEscaped) => {
      const text = JSON.stringify(drawn.map((key) => [key, [key]]));
      const members = drawn.map((key) => {
        return `${isEscaped ? `"${escape(key)}"` : JSON.stringify(key)} : ${JSON.stringify([key])}`;
      });
      JSON.parse(`{"first":1,"\\\\":2}`);
      const expected = Object.fromEntries(drawn.map((key) => [key, [key]]));
      expect(parseJson(`{"first":1,"in":{${members.join()}}}`, 100), text).toEqual({ first: 1, in: expected });
      expect(parseJson(`{"first":1,${members.join()}}`, 100), text).toEqual({ first: 1, ...expected });
    }),
  );
});

test("rejects more than 2,048 keys with escapes", () => {
  const keys = (count: number): string =>
    JSON.stringify(Array.from({ length: count }, (_, index) => ({ [`"${index}`]: 0 })));
  expect(parseJson(keys(2_048), 100)).toHaveLength(2_048);
  expect(() => parseJson(keys(2_049), 100)).toThrow(
    "the body has more than 2048 keys with escapes, the next at character",
  );
  // Values may have as many as they like.
  expect(parseJson(JSON.stringify(Array(10_000).fill('"')), 100)).toHaveLength(10_000);
});

test("counts levels of nesting, but not brackets in strings", () => {
  expect(parseJson('[[["[[[["]]]', 3)).toEqual([[["[[[["]]]);
  expect(() => parseJson("[[[1]]]", 2)).toThrow("nests deeper than 2 levels at character 2");
});

test.each(["[", '{"a":', '[{"a":', "]", "}["])("rejects 100,000 times %s in linear time", (text) => {
  const hostile = text.repeat(100_000);
  const ratio = ratioOf(
    () => expect(() => parseJson(hostile, 100)).toThrow(RestError),
    () => Array.from(hostile),
  );
  expect(ratio).toBeLessThan(20);
});

test.each([
  "",
  "1234567890123456789x",
  "[12345678901234567890123,1e400}",
  "{",
  '{"a"',
  '"\\',
  "[1,]",
  "{]",
  "nul",
  '{"a":1}}',
])("rejects %s, which is not JSON", (text) => {
  expect(() => parseJson(text, 100)).toThrow("the body is not JSON");
});

test("reports the position of invalid UTF-8", () => {
  expect(() => decodeUtf8(Buffer.from([0x61, 0xff, 0x62]))).toThrow("near byte 1");
  expect(() => decodeUtf8(Buffer.from([0x61, 0xc3]))).toThrow("not UTF-8");
  expect(() => decodeUtf8(Buffer.from([0xed, 0xa0, 0x80]))).toThrow("not UTF-8");
});

test.each([
  "9007199254740993",
  "-9007199254740992",
  "1e400",
  "-1E+16",
  "1.00000000000000000001",
  `${"9".repeat(400)}.5`,
])("keeps the text of %s, which its double does not say", (text) => {
  const number = new NumberText(text);
  // Members whose keys are indexes come first in the parsed value.
  const json = parseJson(
    `{"b":${text},"1":[ ${text}\n,0.5,1e2],"__proto__":-${text.replace("-", "")} ,"a":"${text}"}`,
    9,
  );
  expect(Object.entries(json as object)).toEqual([
    ["1", [number, 0.5, 100]],
    ["b", number],
    ["__proto__", new NumberText(`-${text.replace("-", "")}`)],
    ["a", text],
  ]);
  expect(parseJson(text, 1)).toEqual(number);
});

test.each([0, -0, 1.5, 0.1, 1e300 / 3e300, 2 ** 53 - 1, 1 - 2 ** 53, 5e-324, 1e15])(
  "leaves the number %s",
  (number) => {
    for (const text of [JSON.stringify(number), number.toExponential(), number.toFixed(20)]) {
      expect(parseJson(`[${text}]`, 1)).toEqual([Number(text)]);
    }
  },
);

test("restores 40,000 numbers in linear time", () => {
  const text = `[${Array(40_000).fill("9007199254740993").join()}]`;
  expect(parseJson(text, 1)).toHaveLength(40_000);
  const ratio = ratioOf(
    () => parseJson(text, 1),
    () => Array.from(text),
  );
  expect(ratio).toBeLessThan(30);
});

test("reports the position of an error in the text that was given", () => {
  expect(() => parseJson("[123456789012345678901234567890, x]", 1)).toThrow('..."34567890, x]"');
});
