import { type Runs, createRuns, noteRun } from "./runs.ts";

export interface Repetition<Result> {
  /** How its runs have gone. */
  readonly runs: Readonly<Runs>;
  /** Runs once, after the run in progress. @throws the error of the run, or an AbortError if it has not started before `close`. */
  runOnce(): Promise<Result>;
  /** Starts no other run, tells the one in progress to end, and waits for it. */
  close(): Promise<void>;
}

interface RepeatOptions {
  /** The time from one run to the next. A run that takes longer skips those that would start meanwhile. */
  readonly intervalMs: number;
  /** Whether to run at a time of the interval. Default: always. */
  readonly isDue?: (() => boolean) | undefined;
  /** Called when a run fails that the timer has started. After `close` failures say nothing: its connections may be closed. */
  readonly onError: (error: unknown) => void;
  /** Where its runs are noted. Failures that `run` does not throw are noted by itself. Default: its own. */
  readonly runs?: Runs;
}

/**
 * Runs something at intervals, one run at a time.
 *
 * @param run is told by the signal to end.
 */
export function repeat<Result>(
  run: (signal: AbortSignal) => Promise<Result>,
  { intervalMs, isDue = () => true, onError, runs = createRuns() }: RepeatOptions,
): Repetition<Result> {
  const closing = new AbortController();
  const { signal } = closing;
  let last: Promise<unknown> = Promise.resolve();
  let underWay = 0;

  const runOnce = (): Promise<Result> => {
    underWay++;
    const result = last.then(() => {
      signal.throwIfAborted();
      return noteRun(runs, () => run(signal));
    });
    last = result.then(
      () => underWay--,
      () => underWay--,
    );
    return result;
  };

  const timer = setInterval(() => {
    if (underWay === 0 && isDue()) runOnce().catch((error: unknown) => signal.aborted || onError(error));
  }, intervalMs);
  timer.unref();

  return {
    runs,
    runOnce,
    async close() {
      clearInterval(timer);
      closing.abort();
      await last;
    },
  };
}
