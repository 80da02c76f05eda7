/**
 * A stream whose iterator is returned as soon as the signal aborts, and not only when somebody asks for the next message:
 * one that waits for a slow client, or waits itself, is told at once. (A generator that waits is told when it goes on; only
 * its own use of the signal can shorten that.)
 */
export function returnOnAbort<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = messages[Symbol.asyncIterator]();
      let returned: Promise<IteratorResult<T>> | undefined;
      async function giveBack(): Promise<IteratorResult<T>> {
        await iterator.return?.();
        return { done: true, value: undefined };
      }
      function end(): Promise<IteratorResult<T>> {
        return (returned ??= giveBack());
      }
      // What it throws, when nobody waits for it, nobody needs to know.
      signal.addEventListener("abort", () => void end().catch(() => undefined), { once: true });
      return { next: () => (signal.aborted ? end() : iterator.next()), return: end };
    },
  };
}
