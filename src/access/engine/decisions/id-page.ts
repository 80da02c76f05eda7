import type { EntityTable } from "../tables/entity-table.ts";

export interface PageOptions {
  readonly after?: string | undefined;
  readonly limit: number;
  /** Excludes ids from the page. Called only for ids that would be on it. */
  readonly accepts?: ((id: string) => boolean) | undefined;
}

/** Collects the first ids, in order, of records that are offered in any order. */
export interface IdPage {
  /** Reports whether the record belongs on the page and is not on it yet. */
  readonly wants: (record: number) => boolean;
  /** Adds a record that the page wants. Returns the record that it displaces, or 0. */
  readonly add: (record: number) => number;
  readonly records: () => number[];
  readonly ids: () => string[];
}

/** Creates an empty page: a heap with the last id on top, so that one comparison rejects a record that comes after it. */
export function createIdPage(table: EntityTable, { after, limit, accepts }: PageOptions): IdPage {
  const comesAfter = after === undefined ? () => true : table.comesAfter(after);
  const heap: number[] = [];
  const present = new Set<number>();
  const isLater = (index: number, other: number): boolean =>
    table.compare(heap[index] as number, heap[other] as number) > 0;

  function swap(index: number, other: number): void {
    const record = heap[index] as number;
    heap[index] = heap[other] as number;
    heap[other] = record;
  }

  function rise(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isLater(index, parent)) return;
      swap(index, parent);
      index = parent;
    }
  }

  function sink(): void {
    let index = 0;
    for (;;) {
      const left = index * 2 + 1;
      let latest = index;
      if (left < heap.length && isLater(left, latest)) latest = left;
      if (left + 1 < heap.length && isLater(left + 1, latest)) latest = left + 1;
      if (latest === index) return;
      swap(index, latest);
      index = latest;
    }
  }

  const records = (): number[] => heap.toSorted(table.compare);

  return {
    wants(record) {
      if (heap.length >= limit && (limit <= 0 || table.compare(record, heap[0] as number) >= 0)) return false;
      return comesAfter(record) && !present.has(record) && (accepts === undefined || accepts(table.idOf(record)));
    },

    add(record) {
      present.add(record);
      if (heap.length < limit) {
        heap.push(record);
        rise(heap.length - 1);
        return 0;
      }
      const last = heap[0] as number;
      present.delete(last);
      heap[0] = record;
      sink();
      return last;
    },

    records,
    ids: () => records().map(table.idOf),
  };
}
