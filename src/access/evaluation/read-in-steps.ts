import type { Steps } from "../engine/decisions/steps.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";

/**
 * Reads a snapshot in steps, between which other calls run. The snapshot stays as it is until the last step, and changes of the
 * org wait.
 *
 * @param renew takes a turn for the next step; returns undefined if it may run at once.
 */
export async function readInSteps<Answer>(
  { readHold }: OrgSnapshot,
  start: () => Steps<Answer>,
  renew: () => Promise<void> | undefined,
): Promise<Answer> {
  const release = await readHold.hold();
  try {
    const steps = start();
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      const turn = renew();
      if (turn !== undefined) await turn;
    }
  } finally {
    release();
  }
}
