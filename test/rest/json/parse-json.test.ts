import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RestError } from "../../../src/rest/errors/rest-error.ts";
import { decodeUtf8, parseJson } from "../../../src/rest/json/parse-json.ts";
import { cpuTimeOf } from "../../support/cpu-time.ts";

test("agrees with JSON.parse for JSON without duplicate keys", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
      const value: JsonValue = JSON.parse(text);
      expect(parseJson(JSON.stringify(value, undefined, indent), 100)).toEqual(value);
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
  const escaped = (key: string): string =>
    key.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
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
        const again = isEscaped ? `"${escaped(first)}":{}` : member(first);
        expect(() => parseJson(wrap(`{${[...members, again].join()}}`), 100)).toThrow("twice");
        const text = wrap(`{${members.join()}}`);
        expect(parseJson(text, 100)).toEqual(JSON.parse(text));
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

test("counts levels of nesting, but not brackets in strings", () => {
  expect(parseJson('[[["[[[["]]]', 3)).toEqual([[["[[[["]]]);
  expect(() => parseJson("[[[1]]]", 2)).toThrow("nests deeper than 2 levels at character 2");
});

test.each(["[", '{"a":', '[{"a":', "]", "}["])("rejects 100,000 times %s in linear time", (text) => {
  const hostile = text.repeat(100_000);
  const cpuTime = cpuTimeOf(() => expect(() => parseJson(hostile, 100)).toThrow(RestError));
  expect(cpuTime).toBeLessThan(200);
});

test.each(["", "{", '{"a"', '"\\', "[1,]", "{]", "nul", '{"a":1}}'])("rejects %s, which is not JSON", (text) => {
  expect(() => parseJson(text, 100)).toThrow("the body is not JSON");
});

test("reports the position of invalid UTF-8", () => {
  expect(() => decodeUtf8(Buffer.from([0x61, 0xff, 0x62]))).toThrow("near byte 1");
  expect(() => decodeUtf8(Buffer.from([0x61, 0xc3]))).toThrow("not UTF-8");
  expect(() => decodeUtf8(Buffer.from([0xed, 0xa0, 0x80]))).toThrow("not UTF-8");
});
