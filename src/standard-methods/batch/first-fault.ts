// Lets a batch check all its items together and still fail with the error of its first faulty item, as if it had checked one by one.
import { ServiceError } from "../../errors/service-error.ts";
import type { AtItem } from "./batch-item.ts";

/** The first item of a batch that is at fault, as far as it is known. */
export interface FirstFault {
  /** Returns the number of items before it. Later checks need only these. */
  readonly before: () => number;
  /** Notes a fault of an item before it. `run` rejects with the error. */
  readonly note: (index: number, run: () => Promise<unknown>) => void;
  /** Rejects with the error at the item, if there is one. */
  readonly rejectIfAny: () => Promise<void>;
}

export function createFirstFault(count: number, atItem: AtItem): FirstFault {
  let fault: { readonly index: number; readonly run: () => Promise<unknown> } | undefined;
  const before = (): number => fault?.index ?? count;
  return {
    before,
    note(index, run) {
      if (index < before()) fault = { index, run };
    },
    async rejectIfAny() {
      if (fault !== undefined) await atItem(fault.index, fault.run);
    },
  };
}

/** Maps the items before the first fault, up to one for which `map` throws, which is noted. */
export function mapUntilFault<Item, Result>(
  items: readonly Item[],
  fault: FirstFault,
  map: (item: Item, index: number) => Result,
): Result[] {
  const results: Result[] = [];
  for (const [index, item] of items.slice(0, fault.before()).entries()) {
    try {
      results.push(map(item, index));
    } catch (error) {
      fault.note(index, () => Promise.reject(error));
      break;
    }
  }
  return results;
}

/**
 * Checks something that several items may have in common, for the items before the first fault: with one call and, if that rejects,
 * with calls for half as many items each, until the first faulty item is found and noted.
 *
 * @param keyOf returns the key of what is checked of an item.
 * @param check rejects with a ServiceError exactly if it rejects for one of the items alone.
 */
export async function checkTogether<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  fault: FirstFault,
  check: (items: readonly Item[]) => Promise<void>,
): Promise<void> {
  const first = new Map<string, { readonly item: Item; readonly index: number }>();
  for (const [index, item] of items.slice(0, fault.before()).entries()) {
    const key = keyOf(item);
    if (!first.has(key)) first.set(key, { item, index });
  }
  const distinct = [...first.values()];
  const holds = async (start: number, end: number): Promise<boolean> => {
    try {
      await check(distinct.slice(start, end).map(({ item }) => item));
      return true;
    } catch (error) {
      if (error instanceof ServiceError) return false;
      throw error;
    }
  };
  if (distinct.length === 0) return;
  let [start, end] = [0, distinct.length];
  // The items before `start` are not at fault; the first that is, if any, is before `end`.
  if (end > 1 && (await holds(start, end))) return;
  while (end - start > 1) {
    const middle = (start + end) >> 1;
    if (await holds(start, middle)) start = middle;
    else end = middle;
  }
  const [one] = distinct.slice(start, end);
  if (one === undefined || (distinct.length === 1 && (await holds(0, 1)))) return;
  fault.note(one.index, () => check([one.item]));
}
