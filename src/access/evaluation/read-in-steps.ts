import { runInTurns } from "../../turns/run-in-turns.ts";
import type { Steps } from "../../turns/steps.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";

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
