import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/changes/canonical-json.ts";

test("keys are in the order of their UTF-16 code units, as in the example of RFC 8785, 3.2.3", () => {
  const value = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\u{1f600}": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
  };
  const names = [...canonicalJson(value).matchAll(/"([^":]+|Emoji: [^"]+)"[,}]/g)].map(([, name]) => name);
  expect(names).toEqual([
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
  ]);
});

/** Rebuilds a value with the keys of all objects in another order. */
function reordered(value: unknown, turn: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => reordered(each, turn));
  if (typeof value !== "object" || value === null) return value;
  const row = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(turn(Object.keys(row)).map((key) => [key, reordered(row[key], turn)]));
}

test("equal values have one text, which says what they are", () => {
  const key = fc.oneof(fc.string(), fc.constantFrom("", "__proto__", "10", "9", "a", "B", "\ud83d\ude00", "\ufb33"));
  const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 0, -0, 1e21, 0.1, ""),
      fc.string({ unit: "grapheme" }),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalJson(value);
      for (const turn of [(keys: string[]) => keys.toSorted(), (keys: string[]) => keys.toReversed()])
        expect(canonicalJson(reordered(value, turn))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("what JSON leaves out is left out, wherever it is, and dates are as JSON has them", () => {
  const time = new Date(0);
  for (const value of [
    { a: undefined, b: [undefined, time], c: time },
    { c: time, b: [undefined, time], a: undefined },
  ])
    expect(canonicalJson(value)).toBe('{"b":[null,"1970-01-01T00:00:00.000Z"],"c":"1970-01-01T00:00:00.000Z"}');
  expect(canonicalJson(undefined)).toBe("null");
});
