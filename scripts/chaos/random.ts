// Random numbers from a seed, so that a run can be repeated as far as time allows.

export interface Random {
  /** Returns an integer from 0 to one less than the limit. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item | undefined;
  /** Returns a UUID. */
  uuid(): string;
}

/** Creates a sequence for each name, so that what one part draws does not depend on the others. */
export function createRandom(seed: number, name: string): Random {
  let state = seed;
  for (const character of name) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193) >>> 0;
  // Mulberry32, by Tommy Ettinger.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const digits = (length: number): string => Array.from({ length }, () => below(16).toString(16)).join("");
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)],
    uuid: () => `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}`,
  };
}
