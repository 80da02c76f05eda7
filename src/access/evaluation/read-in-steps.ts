import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { Steps } from "../../scheduling/steps.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";

/** Runs steps that read a snapshot. It stays as it is until the last step, and changes of the org wait. */
export async function readInSteps<Result>(
  { readHold }: OrgSnapshot,
  start: () => Steps<Result>,
  { run }: Pick<CallSlices, "run">,
): Promise<Result> {
  const release = await readHold.hold();
  try {
    return await run(start());
  } finally {
    release();
  }
}
