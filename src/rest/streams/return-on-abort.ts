/**
 * Wraps a stream so that `return` of its iterator is called as soon as the signal aborts, not only when the next message is
 * requested. This also ends a stream that is waiting for a slow client. If a generator is awaiting something itself, its
 * `finally` block runs only after that settles, unless the generator uses the signal.
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
      // The call has ended, so an error thrown by `return` is ignored.
      signal.addEventListener("abort", () => void end().catch(() => undefined), { once: true });
      return { next: () => (signal.aborted ? end() : iterator.next()), return: end };
    },
  };
}
