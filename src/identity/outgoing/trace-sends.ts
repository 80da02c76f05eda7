import { within } from "../../tracing/active-span.ts";
import { formatTraceParent } from "../../tracing/trace-parent.ts";
import type { Tracing } from "../../tracing/tracing.ts";
import type { SendGuarded } from "./guarded-request.ts";

/** Returns a function that sends each request in a trace of its own, of which it tells the receiver. @param name `webhook delivery` */
export function traceSends(name: string, send: SendGuarded, tracing: Tracing | undefined): SendGuarded {
  if (tracing === undefined) return send;
  return async (url, request) => {
    const { parent, span } = tracing.beginOutgoing(name);
    const headers = { ...request.headers, traceparent: formatTraceParent(parent) };
    try {
      const answer = await within(span, () => send(url, { ...request, headers }));
      const isFailure = answer.status >= 400;
      span?.end({ "http.response.status_code": answer.status }, isFailure ? String(answer.status) : undefined);
      return answer;
    } catch (error) {
      span?.end({}, error instanceof Error ? error.name : "error");
      throw error;
    }
  };
}
