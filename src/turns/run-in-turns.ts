import type { Steps } from "./steps.ts";

/**
 * Runs steps, between which other calls run.
 *
 * @param renew takes a turn for the next step; returns undefined if it may run at once.
 */
export async function runInTurns<Answer>(
  steps: Steps<Answer>,
  renew: () => Promise<void> | undefined,
): Promise<Answer> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const turn = renew();
    if (turn !== undefined) await turn;
  }
}
