import type { Steps } from "../engine/decisions/steps.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";

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

/** Runs steps that read a snapshot. It stays as it is until the last step, and changes of the org wait. */
export async function readInSteps<Answer>(
  { readHold }: OrgSnapshot,
  start: () => Steps<Answer>,
  renew: () => Promise<void> | undefined,
): Promise<Answer> {
  const release = await readHold.hold();
  try {
    return await runInTurns(start(), renew);
  } finally {
    release();
  }
}
