/** Of large calls, those that have not begun and those that have; and all others. */
export type QueueName = "large" | "begun" | "small";

export interface WaitingCalls {
  add(queue: QueueName, start: () => void): void;
  /** Removes a call that does not wait any more. */
  remove(queue: QueueName, start: () => void): void;
  /** Removes and returns the call whose turn is next. */
  next(): (() => void) | undefined;
  count(): number;
}

/**
 * Creates the queues of an org's calls. Large ones have every other turn. Those that have begun go before the others, because their
 * parsed messages are in memory until they end. If dozens of them took turns, each message would live so long that only full garbage
 * collections free it.
 */
export function createWaitingCalls(): WaitingCalls {
  const queues = { large: new Set<() => void>(), begun: new Set<() => void>(), small: new Set<() => void>() };
  let wasLarge = false;
  const shift = (queue: QueueName): (() => void) | undefined => {
    const [first] = queues[queue];
    if (first !== undefined) queues[queue].delete(first);
    return first;
  };
  return {
    add: (queue, start) => void queues[queue].add(start),
    remove: (queue, start) => void queues[queue].delete(start),
    next() {
      wasLarge = !wasLarge;
      const nextLarge = () => shift("begun") ?? shift("large");
      return wasLarge ? (nextLarge() ?? shift("small")) : (shift("small") ?? nextLarge());
    },
    count: () => queues.large.size + queues.begun.size + queues.small.size,
  };
}
