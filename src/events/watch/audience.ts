import { setImmediate as nextTurn } from "node:timers/promises";
import type { Watcher } from "./watcher.ts";

/** Those who watch a log. */
export interface Audience {
  all(): readonly Watcher[];
  add(watcher: Watcher): void;
  leave(watcher: Watcher): void;
  /** Ends all streams with an error. */
  endAll(error: unknown): void;
  /** Runs something for each watcher, or for some, a few at a time. The stream of one for which it fails ends with the error. */
  forEach(run: (watcher: Watcher) => Promise<void>, isOne?: (watcher: Watcher) => boolean): Promise<void>;
}

/** So many watchers are served in one turn of the event loop. */
const watchersOfTurn = 50;

/** @param onLeave called when a watcher has left. */
export function createAudience(onLeave: () => void): Audience {
  const watchers = new Set<Watcher>();
  const leave = (watcher: Watcher): void => {
    watchers.delete(watcher);
    onLeave();
  };
  const end = (watcher: Watcher, error: unknown): void => {
    watcher.queue.end(error);
    leave(watcher);
  };
  return {
    all: () => [...watchers],
    add: (watcher) => void watchers.add(watcher),
    leave,

    endAll(error) {
      for (const watcher of watchers) end(watcher, error);
    },

    async forEach(run, isOne = () => true) {
      const all = [...watchers].filter(isOne);
      for (let index = 0; index < all.length; index += watchersOfTurn) {
        if (index > 0) await nextTurn();
        const some = all.slice(index, index + watchersOfTurn);
        await Promise.all(some.map((each) => run(each).catch((error: unknown) => end(each, error))));
      }
    },
  };
}
