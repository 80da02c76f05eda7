export interface Counts {
  /** @returns false when the count is at its maximum. */
  add(key: string): boolean;
  remove(key: string): void;
}

/** Counts what is open of each key, such as an address. */
export function createCounts(max: number): Counts {
  const counts = new Map<string, number>();
  return {
    add(key) {
      const count = counts.get(key) ?? 0;
      if (count >= max) return false;
      counts.set(key, count + 1);
      return true;
    },
    remove(key) {
      const count = counts.get(key) ?? 0;
      if (count <= 1) counts.delete(key);
      else counts.set(key, count - 1);
    },
  };
}
