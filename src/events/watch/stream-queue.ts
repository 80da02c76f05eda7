/** What waits for a reader that may be slow. */
export interface StreamQueue<Item> {
  /** Adds an item. Returns false if too many wait, or too many bytes; the item is not added then. Does nothing after `end`. */
  push(item: Item, bytes: number): boolean;
  isEmpty(): boolean;
  /** Returns when the queue is empty, or has ended. */
  whenEmpty(): Promise<void>;
  /** Ends the queue: `take` throws the error when the items that wait have been taken. The first error counts. */
  end(error: unknown): void;
  /** @throws the error with which the queue has ended. */
  requireOpen(): void;
  /** Forgets the items that wait. */
  clear(): void;
  /** Returns the first of the items that wait, and waits for one if there are none. @throws the error with which the queue has ended. */
  take(): Promise<readonly Item[]>;
}

/** So many are taken at once. A reader keeps those that it has taken for as long as its connection takes none of them. */
const maxTaken = 50;

/** How much may wait. One item may have more bytes. */
interface MaxWaiting {
  readonly items: number;
  readonly bytes: number;
}

export function createStreamQueue<Item>(max: MaxWaiting): StreamQueue<Item> {
  let items: Item[] = [];
  /** How long each of these is. */
  let sizes: number[] = [];
  let waiting = 0;
  let ended: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  let emptied = Promise.withResolvers<void>();
  const noteEmpty = (): void => {
    emptied.resolve();
    emptied = Promise.withResolvers();
  };
  const wakeReader = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    push(item, bytes) {
      if (ended !== undefined) return true;
      if (items.length >= max.items || (items.length > 0 && waiting + bytes > max.bytes)) return false;
      items.push(item);
      sizes.push(bytes);
      waiting += bytes;
      wakeReader();
      return true;
    },

    isEmpty: () => items.length === 0,

    whenEmpty: () => (items.length === 0 || ended !== undefined ? Promise.resolve() : emptied.promise),

    end(error) {
      ended ??= { error };
      wakeReader();
      noteEmpty();
    },

    requireOpen() {
      if (ended !== undefined) throw ended.error;
    },

    clear() {
      [items, sizes, waiting] = [[], [], 0];
      noteEmpty();
    },

    async take() {
      while (items.length === 0) {
        if (ended !== undefined) throw ended.error;
        await new Promise<void>((resolve) => (wake = resolve));
      }
      for (const bytes of sizes.splice(0, maxTaken)) waiting -= bytes;
      const taken = items.splice(0, maxTaken);
      if (items.length === 0) noteEmpty();
      return taken;
    },
  };
}
