// Ends streams whose clients read nothing, whichever protocol they come over. A stream that has a message for its client waits until there
// is room for it on the connection; one whose client does not read would wait for as long as the client likes, with its page, its queue and
// its place among the open streams.
import { createContextKey } from "@connectrpc/connect";
import { ServiceError } from "../../errors/service-error.ts";

/** Cuts the connection of a request, or its stream over HTTP/2. Absent for a call in process. */
export const cutKey = createContextKey<(() => void) | undefined>(undefined, { description: "cuts the request" });

/** A stream, and when it began to wait for its client; Infinity while it does not. */
interface Waiting {
  since: number;
  readonly giveUp: () => void;
}

export interface SilentReaders {
  /**
   * Returns the messages of a stream. When its client has read none for some time, the stream ends at once on this side; the client is told
   * to resume if it reads again soon, and is cut if it does not.
   *
   * @param cut cuts the client.
   */
  watch<Each>(messages: AsyncIterable<Each>, cut: (() => void) | undefined): AsyncIterable<Each>;
}

/** How long a client may take to read that its stream has ended, in milliseconds. */
const unreadMs = 2_000;

/** @param limitMs how long a client may read nothing, within a tenth. */
export function createSilentReaders(limitMs: number): SilentReaders {
  const open = new Set<Waiting>();
  let timer: NodeJS.Timeout | undefined;
  // One timer for all: most streams wait for their clients for less than a millisecond, many times in a second.
  const look = (): void => {
    const latest = performance.now() - limitMs;
    for (const waiting of open) if (waiting.since < latest) waiting.giveUp();
  };
  const add = (waiting: Waiting): void => {
    open.add(waiting);
    timer ??= setInterval(look, limitMs / 10).unref();
  };
  const remove = (waiting: Waiting): void => {
    open.delete(waiting);
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    watch: (messages, cut) => ({
      [Symbol.asyncIterator]() {
        const iterator = messages[Symbol.asyncIterator]();
        let isSilent = false;
        const waiting: Waiting = {
          since: Infinity,
          giveUp() {
            isSilent = true;
            remove(waiting);
            void iterator.return?.().catch(() => undefined);
            setTimeout(() => cut?.(), unreadMs).unref();
          },
        };
        add(waiting);
        return {
          async next() {
            if (isSilent) throw silent(limitMs);
            waiting.since = Infinity;
            try {
              const result = await iterator.next();
              if (result.done === true) remove(waiting);
              else waiting.since = performance.now();
              return result;
            } catch (error) {
              remove(waiting);
              throw error;
            }
          },
          async return() {
            remove(waiting);
            await iterator.return?.();
            return { done: true, value: undefined };
          },
        };
      },
    }),
  };
}

function silent(limitMs: number): ServiceError {
  return new ServiceError(
    "STREAM_ENDED",
    `the stream has ended: its client has read nothing for ${limitMs} ms; call again, and resume after the last message`,
    { metadata: { ended_by: "SLOW_READER" } },
  );
}
