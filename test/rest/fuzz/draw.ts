import fc from "fast-check";

/** Chooses a number from 0 to `count` - 1. Shorter noise with smaller numbers leads to simpler choices, for shrinking. */
export type Draw = (count: number) => number;

/** The numbers that determine the choices. When they run out, each choice is the first one. */
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
