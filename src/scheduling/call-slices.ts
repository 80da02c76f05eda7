import type { Steps } from "./steps.ts";

/** What a call sees of how callers share the processor. */
export interface CallSlices {
  /**
   * Returns undefined if the call may run on, and otherwise a promise of its next time slice. It is cheap enough to be called for each
   * item of a loop.
   *
   * @throws the reason of the call's signal when nobody waits for the answer any more; so does the promise.
   */
  readonly next: () => Promise<void> | undefined;
  /** Runs steps, with a call of `next` between two of them. Rejects as `next` throws. */
  readonly run: <Result>(steps: Steps<Result>) => Promise<Result>;
}

/** @param nextOfSteps is called between two steps. */
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
