import type { Steps } from "./steps.ts";

/** What a call sees of how callers share the processor. */
export interface CallSlices {
  /**
   * Returns undefined if the call may run on, and otherwise a promise of its next time slice. Costs so little that loops can ask for
   * each item.
   *
   * @throws the reason of the call's signal when nobody waits for the answer any more; so does the promise.
   */
  readonly next: () => Promise<void> | undefined;
  /** Runs steps, between which other calls run. Rejects as `next` throws. */
  readonly run: <Answer>(steps: Steps<Answer>) => Promise<Answer>;
}

/** @param next as that of `CallSlices`, for what can take long. Default: for all. */
export function createCallSlices(next: CallSlices["next"], nextOfSteps = next): CallSlices {
  return {
    next,
    async run(steps) {
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        const slice = nextOfSteps();
        if (slice !== undefined) await slice;
      }
    },
  };
}
