import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mapNames } from "../../../src/cli/plan/map-names.ts";
import { nameKey } from "../../../src/cli/file/name-key.ts";
import { isName } from "../../../src/paths/parse-path.ts";

const uuid = "01980F5E-7C1A-7B3E-9C55-3F0F6E1D2A4B";

describe("a name", () => {
  test.each([
    ["alice", "alice"],
    ["0xMH", "0xmh"],
    ["MadhavJivrajani", "madhavjivrajani"],
    ["discovery.etcd.io", "discovery-etcd-io"],
    ["kubernetes/sig-apps", "kubernetes-sig-apps"],
    ["a--b", "a--b"],
    ["  Site   Reliability ", "site-reliability"],
    ["__init__", "init"],
    ["Zoë", "zo"],
    ["x".repeat(65), "x".repeat(64)],
    [`${"x".repeat(63)}.y`, "x".repeat(63)],
  ])("%j becomes %j", (original, name) => {
    expect([...mapNames([original]).values()]).toEqual([name]);
  });

  test.each([["日本"], ["***"], [uuid]])("%j gets a hash, because no valid characters are left", (original) => {
    const [name = ""] = mapNames([original]).values();
    expect(name).toMatch(/(^|-)[0-9a-f]{8}$/);
    expect(isName(name)).toBe(true);
  });
});

test("originals that differ only in case get the same name", () => {
  expect(mapNames(["Alice", "ALICE", "alice"])).toEqual(new Map([["alice", "alice"]]));
});

test("colliding originals get a hash, except for one that is a valid name", () => {
  const names = mapNames(["a.b", "a_b", "a-b"]);
  expect(names.get("a-b")).toBe("a-b");
  expect(names.get("a.b")).toMatch(/^a-b-[0-9a-f]{8}$/);
  expect(names.get("a_b")).toMatch(/^a-b-[0-9a-f]{8}$/);
  expect(names.get("a.b")).not.toBe(names.get("a_b"));
});

test("an original that equals a hashed name does not collide with it", () => {
  const taken = mapNames(["a.b", "a_b"]).get("a.b") ?? "";
  const names = mapNames(["a.b", "a_b", taken]);
  expect(names.get(taken)).toBe(taken);
  expect(new Set(names.values()).size).toBe(3);
});

/** An alphabet of few characters, so that collisions are common. */
const closeNames = fc.array(fc.string({ unit: fc.constantFrom("a", "A", "b", "-", ".", "_", "é"), maxLength: 5 }));
const anyNames = fc.array(fc.string({ unit: "binary", maxLength: 80 }));
const originals = fc.oneof(closeNames, anyNames);

test("mapped names are valid and distinct", () => {
  fc.assert(
    fc.property(originals, (given) => {
      const names = mapNames(given);
      expect([...names.values()].filter((name) => !isName(name))).toEqual([]);
      expect(new Set(names.values()).size).toBe(new Set(given.map(nameKey)).size);
      for (const key of names.keys()) if (isName(key)) expect(names.get(key)).toBe(key);
    }),
  );
});

test("the mapping does not depend on the order or repetition of the originals", () => {
  const shuffled = originals.chain((given) =>
    fc.tuple(fc.constant(given), fc.shuffledSubarray([...given, ...given], { minLength: given.length * 2 })),
  );
  fc.assert(
    fc.property(shuffled, ([given, other]) => {
      expect(Object.fromEntries(mapNames(other))).toEqual(Object.fromEntries(mapNames(given)));
    }),
  );
});
