import { isLockTimeout } from "../../database/failure.ts";
import { transactionLimits, limitsWithin } from "../../database/transaction-limits.ts";
import type { CallTime } from "../../changes/write-in-org.ts";
import type { FairQueue, QueuedCall } from "../../scheduling/fair-queue.ts";

/** How long a preview waits for a lock at its first turn, in milliseconds; twice as long at each later one, up to the maximum. */
const firstLockMs = 250;
const longestLockMs = 1_000;

/**
 * Runs a preview at its turn in the queue. If it does not get its locks soon, it gives its place up and queues again: previews that wait
 * for an org whose lock is held for long would otherwise take all places. A preview may lock other orgs than that of its target.
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
