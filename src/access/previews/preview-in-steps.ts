import { setImmediate } from "node:timers/promises";
import { ServiceError } from "../../errors/service-error.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { type Preview, type PreviewQuery, previewChanges } from "../engine/decisions/preview-changes.ts";

/** How long a step evaluates what is held before the changes, in milliseconds; what is held after them takes about as long. */
const stepMs = 1;

interface StepOptions {
  readonly signal: AbortSignal;
  readonly clock: () => number;
  /** When the preview ends, by `clock`. The result is what was found until then. */
  readonly endMs: number;
}

/**
 * Previews changes in steps, between which other calls run.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE when the snapshot changes between two steps.
 */
export async function previewInSteps(
  snapshot: OrgSnapshot,
  query: Omit<PreviewQuery, "isStepOver">,
  { signal, clock, endMs }: StepOptions,
): Promise<Preview> {
  let stepEndMs = 0;
  const steps = previewChanges(snapshot, { ...query, isStepOver: () => clock() > stepEndMs });
  const takeStep = () => {
    // The lock that keeps the snapshot at its revision can be lost, for example when the database restarts.
    if (snapshot.revision !== query.revision) throw new ServiceError("SERVICE_UNAVAILABLE", movedMessage);
    stepEndMs = clock() + stepMs;
    return steps.next(clock() < endMs);
  };
  for (;;) {
    signal.throwIfAborted();
    // A step changes the snapshot and changes it back.
    const step = await snapshot.readHold.change(takeStep);
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

const movedMessage = "the org changed during the preview; try again";
