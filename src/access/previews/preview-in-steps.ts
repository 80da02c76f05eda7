import { setImmediate } from "node:timers/promises";
import { ServiceError } from "../../errors/service-error.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { type Preview, type PreviewQuestion, previewChanges } from "../engine/preview-changes.ts";

/** For how long a preview runs at a stretch. */
const stepMs = 5;

interface StepOptions {
  readonly signal: AbortSignal;
  readonly clock: () => number;
  /** By the clock; what is found until then is the answer. */
  readonly endMs: number;
}

/**
 * Previews changes in steps, between which other calls go on.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE when the snapshot is moved forward between two of them.
 */
export async function previewInSteps(
  snapshot: OrgSnapshot,
  question: Omit<PreviewQuestion, "isStepOver">,
  { signal, clock, endMs }: StepOptions,
): Promise<Preview> {
  let stepEndMs = 0;
  const steps = previewChanges(snapshot, { ...question, isStepOver: () => clock() > stepEndMs });
  for (;;) {
    signal.throwIfAborted();
    // The lock that keeps it there may be lost, as when the database restarts.
    if (snapshot.revision !== question.revision) throw new ServiceError("SERVICE_UNAVAILABLE", movedMessage);
    stepEndMs = clock() + stepMs;
    const step = steps.next(clock() < endMs);
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

const movedMessage = "the org was changed while the change was looked at; try again";
