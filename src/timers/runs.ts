/** How the runs of something that runs again and again have gone. */
export interface Runs {
  /** Those that have ended, also with a failure. */
  ended: number;
  /** Runs that failed, and items that failed in runs that went on. */
  failures: number;
  /** How long all took together, in milliseconds. */
  totalMs: number;
  /** When the last one ended in which nothing failed, in milliseconds since 1970; undefined before that. */
  succeededAt: number | undefined;
}

export function createRuns(): Runs {
  return { ended: 0, failures: 0, totalMs: 0, succeededAt: undefined };
}

/** Runs something, and notes how that went. @throws what `run` throws. */
export async function noteRun<Result>(runs: Runs, run: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const { failures } = runs;
  try {
    const result = await run();
    if (runs.failures === failures) runs.succeededAt = Date.now();
    return result;
  } catch (error) {
    runs.failures++;
    throw error;
  } finally {
    runs.ended++;
    runs.totalMs += performance.now() - startedAt;
  }
}

/** What a server does by itself, from its start until it is closed. */
export interface RunningJob {
  /** `purge` */
  readonly name: string;
  readonly runs: Readonly<Runs>;
  /** Starts nothing more, and waits for what is under way. */
  readonly close: () => Promise<void>;
}
