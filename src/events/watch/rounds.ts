/** Runs something when it is wanted, one run at a time. */
export interface Rounds {
  /** Begins a run, or another one after the one under way. */
  want(): void;
}

/**
 * @param run returns whether another run is wanted.
 * @param onError called when a run fails. The next one begins when it is wanted.
 */
export function createRounds(run: () => Promise<boolean>, onError: (error: unknown) => void): Rounds {
  let isRunning = false;
  let isWanted = false;
  const runAll = async (): Promise<void> => {
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      try {
        isWanted = (await run()) || isWanted;
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
