import { ConnectError, type Interceptor } from "@connectrpc/connect";

/** Settles like the promise, or rejects when the deadline of the call expires or its caller disconnects, whichever is first. */
export function untilAborted<Result>(signal: AbortSignal, promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(ConnectError.from(signal.reason));
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

/**
 * Ends a call as soon as its deadline expires or its caller disconnects, without waiting for its handler. For RPC; the REST
 * transcoder does the same itself.
 */
export const endWithSignal: Interceptor = (next) => (request) => untilAborted(request.signal, next(request));
