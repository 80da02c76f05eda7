import { setImmediate as nextTurn } from "node:timers/promises";
import { turnsOfWork } from "./settings.ts";

/** Returns what to wait for when the turn of the event loop has taken long; undefined before. Several that work at once share it. */
export type Turns = () => Promise<void> | undefined;

/** @param turnMs how long a turn may take, in milliseconds. */
export function createTurns(turnMs: number = turnsOfWork.maxMs): Turns {
  let endOfTurn = performance.now() + turnMs;
  let waiting: Promise<void> | undefined;
  const wait = async (): Promise<void> => {
    await nextTurn();
    endOfTurn = performance.now() + turnMs;
    waiting = undefined;
  };
  return () => (performance.now() > endOfTurn ? (waiting ??= wait()) : undefined);
}
