import fc from "fast-check";

/** Chooses a number from 0 to `count` - 1. Fewer and smaller numbers of the noise make simpler choices. */
export type Draw = (count: number) => number;

/** Numbers that choices are read from; after the last one all choices are the first. */
export function arbitraryNoise(length: number): fc.Arbitrary<number[]> {
  return fc.array(fc.nat({ max: 0xffff }), { minLength: length, maxLength: length, size: "max" });
}

export function createDraw(noise: readonly number[]): Draw {
  let at = 0;
  return (count) => (noise[at++] ?? 0) % count;
}

export function pick<Item>(draw: Draw, items: readonly [Item, ...Item[]]): Item {
  return items[draw(items.length)] ?? items[0];
}
