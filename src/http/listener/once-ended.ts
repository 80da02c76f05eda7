import type { ServerResponse } from "node:http";

/**
 * Returns a function that runs something as soon as a response has ended, complete or not. However much waits for a response, it
 * has one listener for each event: clients decide how many requests wait, and Node warns of more than ten listeners.
 */
export function createOnceEnded(): (response: ServerResponse, run: () => void) => void {
  const waiting = new WeakMap<ServerResponse, (() => void)[]>();

  function onEnded(this: ServerResponse): void {
    const runs = waiting.get(this) ?? [];
    waiting.delete(this);
    this.off("finish", onEnded).off("close", onEnded);
    for (const run of runs) run();
  }

  return (response, run) => {
    const runs = waiting.get(response);
    if (runs !== undefined) {
      runs.push(run);
      return;
    }
    waiting.set(response, [run]);
    response.on("finish", onEnded).on("close", onEnded);
  };
}
