import { slices } from "./settings.ts";

const { recordsOfStep } = slices;

/** Work that yields now and then, so that others run in between. */
export type Steps<Answer> = Generator<void, Answer, void>;

/** Returns a function that reports for each record whether its step ends there. */
export function createStepCounter(): () => boolean {
  let count = 0;
  return () => ++count % recordsOfStep === 0;
}

/** Runs all steps at once. */
export function runSteps<Answer>(steps: Steps<Answer>): Answer {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
