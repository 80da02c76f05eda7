export interface Counts {
  /** @returns false when the count would exceed its maximum. */
  add(key: string, amount?: number): boolean;
  remove(key: string, amount?: number): void;
  isFull(key: string): boolean;
  of(key: string): number;
}

/** Counts what is open of each key, such as an address. */
export function createCounts(max: number): Counts {
  const counts = new Map<string, number>();
  return {
    add(key, amount = 1) {
      const count = (counts.get(key) ?? 0) + amount;
      if (count > max) return false;
      counts.set(key, count);
      return true;
    },
    remove(key, amount = 1) {
      const count = (counts.get(key) ?? 0) - amount;
      if (count <= 0) counts.delete(key);
      else counts.set(key, count);
    },
    isFull: (key) => (counts.get(key) ?? 0) >= max,
    of: (key) => counts.get(key) ?? 0,
  };
}
