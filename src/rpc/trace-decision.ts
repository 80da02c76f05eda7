// The parts of a call that decide whether it may: spans of their own, so that a trace shows what waits for access and what for work.
import type { HandlerContext, Interceptor } from "@connectrpc/connect";
import { activeSpan, within } from "../tracing/active-span.ts";

/** Returns a gate whose work is a span. */
export function traceGate(
  gate: (context: HandlerContext) => Promise<void>,
): (context: HandlerContext) => Promise<void> {
  return (context) => {
    const span = activeSpan()?.begin("authenticate", "internal");
    return span === undefined ? gate(context) : within(span, () => gate(context)).finally(() => span.end());
  };
}

/** Returns an interceptor whose work, up to the handler, is a span. The handler is a part of the call again. */
export function traceDecision(interceptor: Interceptor): Interceptor {
  return (next) => {
    const untraced = interceptor(next);
    return (request) => {
      const call = activeSpan();
      const span = call?.begin("authorize", "internal");
      if (span === undefined) return untraced(request);
      const decide = interceptor((decided) => {
        span.end();
        return within(call, () => next(decided));
      });
      return within(span, () => decide(request)).finally(() => span.end());
    };
  };
}
