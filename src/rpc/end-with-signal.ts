// Ends calls that connect-node serves as soon as their signal aborts. By itself, connect-node waits for the gate and the handler.
import { ConnectError, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import type { ExplainError } from "./explain-error.ts";

/** Settles like the promise, or rejects when the deadline of the call expires or its caller disconnects, whichever is first. */
function untilAborted<Result>(signal: AbortSignal, promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(ConnectError.from(signal.reason));
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

/** Ends a call as soon as its deadline expires or its caller disconnects, without waiting for its handler. */
export const endWithSignal: Interceptor = (next) => (request) => untilAborted(request.signal, next(request));

/** Returns a gate that rejects as soon as the deadline of its call expires or the caller disconnects. */
export function endGateWithSignal(
  gate: (context: HandlerContext) => Promise<void>,
  explain: ExplainError,
): (context: HandlerContext) => Promise<void> {
  return async (context) => {
    try {
      await untilAborted(context.signal, gate(context));
    } catch (thrown) {
      throw explain(thrown, context);
    }
  };
}
