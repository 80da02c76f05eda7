import type { CallLength, Renewals } from "./turns.ts";

/**
 * Returns the function that takes the next turn of a call; it returns undefined if the call may run on.
 *
 * @param signal of the call: the function throws when nobody waits for the answer any more.
 * @param length "large" for methods whose messages can be large. Default: long.
 */
export function renewTurnOf(
  turns: Renewals,
  { orgId }: { readonly orgId: string },
  signal?: AbortSignal,
  length?: CallLength,
): () => Promise<void> | undefined {
  return () => {
    signal?.throwIfAborted();
    return turns.renew(orgId, length)?.then(() => signal?.throwIfAborted());
  };
}
