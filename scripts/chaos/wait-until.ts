import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits until a condition holds, for five minutes at most: only what never comes takes so long, also on a slow and busy machine.
 *
 * @throws Error that says what did not become true.
 */
export async function waitUntil(what: string, holds: () => Promise<boolean>, withinMs = 300_000): Promise<void> {
  const end = Date.now() + withinMs;
  let cause: unknown;
  while (Date.now() < end) {
    try {
      if (await holds()) return;
    } catch (error) {
      cause = error;
    }
    await sleep(100);
  }
  throw new Error(`not within ${withinMs / 1_000} s: ${what}`, { cause });
}
