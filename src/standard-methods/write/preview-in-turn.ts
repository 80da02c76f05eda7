import { isLockTimeout } from "../../database/failure.ts";
import { transactionLimits, limitsWithin } from "../../database/transaction-limits.ts";
import type { CallTime } from "../../changes/write-in-org.ts";
import type { FairQueue, QueuedCall } from "../../scheduling/fair-queue.ts";

/** How long a preview waits for a lock in its first turn, and in a later one at most, in milliseconds. */
const firstLockMs = 250;
const longestLockMs = 1_000;

/**
 * Runs a preview when it is its turn. One that does not get its locks soon waits for another turn: an org whose lock is held for
 * long would otherwise take the turns of all others, since a preview may lock other orgs than that of its target.
 *
 * @param run runs the preview. It may be run more than once.
 */
export async function previewInTurn<Answer>(
  queue: FairQueue,
  queued: QueuedCall,
  { remainingMs }: Pick<CallTime, "remainingMs">,
  run: (lockMs: number) => Promise<Answer>,
): Promise<Answer> {
  const endMs = performance.now() + limitsWithin(transactionLimits, remainingMs()).lockMs;
  for (let lockMs = firstLockMs; ; lockMs = Math.min(lockMs * 2, longestLockMs)) {
    try {
      return await queue.run(queued, () => run(lockMs));
    } catch (error) {
      if (!isLockTimeout(error) || performance.now() >= endMs) throw error;
    }
  }
}
