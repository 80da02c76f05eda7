import { expect, test } from "vitest";
import { type NamedItem, orderNames } from "../../../src/org-files/rollback/order-names.ts";
import { createPick } from "../../support/create-pick.ts";

interface Item extends NamedItem {
  readonly number: number;
}

/** Makes steps, and returns the names that are held afterwards. Fails if two have a name at once. */
function follow(items: readonly Item[]): ReadonlyMap<number, string> {
  const held = new Map(
    items.flatMap(({ number, held: name }) => (name === undefined ? [] : [[number, name] as const])),
  );
  const take = (number: number, name: string): void => {
    expect([...held].filter(([other, taken]) => other !== number && taken === name)).toEqual([]);
    held.set(number, name);
  };
  for (const { item, rename } of orderNames(items)) take(item.number, rename ?? item.deletedWith ?? "");
  for (const { number, wanted, isCreated } of items) if (isCreated === true) take(number, wanted ?? "");
  return held;
}

test("names pass along chains without detours", () => {
  const pairs = [
    ["b", "a"],
    ["c", "b"],
    ["d", "c"],
  ] as const;
  const items = pairs.map(([held, wanted], number) => ({ id: `${number}`, number, held, wanted }));
  expect(orderNames(items.toReversed()).map(({ item, rename }) => [item.held, rename])).toEqual(pairs);
});

test("in a circle, one has another name for a while", () => {
  const items = [
    { id: "0-1", number: 0, held: "a", wanted: "b" },
    { id: "0-2", number: 1, held: "b", wanted: "a" },
  ];
  expect(orderNames(items).map(({ item, rename }) => [item.number, rename])).toEqual([
    [0, "moved-01"],
    [1, "a"],
    [0, "b"],
  ]);
});

test.each(Array.from({ length: 200 }, (_, index) => index))("any names are reached (%s)", (seed) => {
  const pick = createPick(seed);
  const shuffled = (): string[] => {
    const names = Array.from({ length: 7 }, (_, index) => `n${index}`);
    return names
      .map((name) => [pick(1_000_000), name] as const)
      .toSorted(([a], [b]) => a - b)
      .map(([, name]) => name);
  };
  const [now, then] = [shuffled(), shuffled()];
  const items = now.map((name, number): Item => {
    const wanted = pick(4) === 0 ? undefined : then[number];
    const kind = pick(4);
    const base = { id: `0-${number}`, number };
    if (kind === 0 && wanted !== undefined) return { ...base, held: undefined, wanted, isCreated: true };
    if (kind === 1 && wanted !== undefined) return { ...base, held: undefined, deletedWith: `n${pick(7)}`, wanted };
    return { ...base, held: name, wanted };
  });
  const held = follow(items);
  for (const { number, wanted } of items) if (wanted !== undefined) expect(held.get(number)).toBe(wanted);
});
