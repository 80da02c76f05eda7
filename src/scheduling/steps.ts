import { slices } from "./settings.ts";

const { recordsOfStep } = slices;

/** Work that yields now and then, so that others run in between. */
export type Steps<Result> = Generator<void, Result, void>;

export function createStepCounter(): () => boolean {
  let count = 0;
  return () => ++count % recordsOfStep === 0;
}

export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
