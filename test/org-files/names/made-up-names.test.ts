import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nameKey } from "../../../src/org-files/names/name-key.ts";
import { formerNamesOf, makeUpName } from "../../../src/org-files/names/made-up-names.ts";
import { isName } from "../../../src/paths/parse-path.ts";

const uuid = "01980F5E-7C1A-7B3E-9C55-3F0F6E1D2A4B";

describe("a made-up name", () => {
  // Accounts have these names: others would be second accounts.
  test.each([
    ["Zoë", "zo-2752b88686847fa5"],
    ["discovery.etcd.io", "discovery-etcd-io-8acf07c2d16f47f4"],
    ["kubernetes/sig-apps", "kubernetes-sig-apps-139323a023449075"],
    ["  Site   Reliability ", "site-reliability-1ee259b6141e2756"],
    ["日本", "cf2abf0c5be326cb"],
    [uuid, "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b-e029e392d36f37fa"],
    ["x".repeat(65), `${"x".repeat(47)}-9537c5fdf120482f`],
  ])("of %j stays %s", (original, name) => {
    expect(makeUpName(original)).toBe(name);
  });

  test("is one however accents are encoded and in every case, and another one for other letters", () => {
    const same = ["J\u030c\u00e9", "\u01f0\u00e9", "J\u030cE\u0301", "\u01f0e\u0301"];
    expect(new Set(same.map(makeUpName)).size).toBe(1);
    const others = ["Jürgen Müller", "Jörgen Möller", "C++", "C#", "Müller GmbH", "Möller GmbH", "a.b", "a_b", " a.b"];
    expect(new Set(others.map(makeUpName)).size).toBe(others.length);
  });

  test("is valid, and distinct for each original", () => {
    const closeNames = fc.string({ unit: fc.constantFrom("a", "A", "b", "-", ".", "_", "é"), maxLength: 5 });
    const originals = fc.array(fc.oneof(closeNames, fc.string({ unit: "binary", maxLength: 80 })));
    fc.assert(
      fc.property(originals, (given) => {
        const names = new Map(given.map((original) => [nameKey(original), makeUpName(original)]));
        expect([...names.values()].filter((name) => !isName(name))).toEqual([]);
        expect(new Set(names.values()).size).toBe(names.size);
      }),
    );
  });
});

test.each([
  ["Zoë", ["zo", "zo-aef50168"]],
  ["discovery.etcd.io", ["discovery-etcd-io", "discovery-etcd-io-41703e1c"]],
  ["日本", ["4c2697ef"]],
  ["x".repeat(65), ["x".repeat(64), `${"x".repeat(55)}-8e75f168`]],
])("earlier versions named %j %j", (original, names) => {
  expect(formerNamesOf(original)).toEqual(names);
});
