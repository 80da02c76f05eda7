import { ConnectError, type Interceptor } from "@connectrpc/connect";

/** What comes first: the promise, or that the call's time is over or its caller has gone. */
export function untilAborted<Result>(signal: AbortSignal, promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(ConnectError.from(signal.reason));
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

/**
 * Answers as soon as a call's time is over or its caller has gone, and does not wait for a handler that notices later.
 * For the RPC lanes; REST does so by itself.
 */
export const endWithSignal: Interceptor = (next) => (request) => untilAborted(request.signal, next(request));
