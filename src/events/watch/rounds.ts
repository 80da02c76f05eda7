/** Runs something when it is wanted, one run at a time. */
export interface Rounds {
  /** Begins a run, or another one after the one under way. */
  readonly want: () => void;
}

/** @param onError called when a run fails. The next one begins when it is wanted. */
export function createRounds(run: () => Promise<void>, onError: (error: unknown) => void): Rounds {
  let isRunning = false;
  let isWanted = false;
  const runAll = async (): Promise<void> => {
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      try {
        await run();
      } catch (error) {
        isWanted = false;
        onError(error);
      }
    }
    isRunning = false;
  };
  return {
    want() {
      isWanted = true;
      if (!isRunning) void runAll();
    },
  };
}
