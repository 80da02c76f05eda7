import type { ActiveSpan } from "./active-span.ts";
import type { TraceParent } from "./trace-parent.ts";

/** What a trace begins with here. */
export interface Trace {
  readonly traceId: string;
  /** Undefined if it is not sampled: then nothing is recorded. */
  readonly span: ActiveSpan | undefined;
}

/** Records calls, and what they wait for, and sends that to a collector. */
export interface Tracing {
  /**
   * Begins the trace of a request, or continues that of its caller.
   *
   * @param claimed what the caller says.
   * @param isTrusted whether the caller's trace is continued, and recorded if it says so. Others would decide how much we send, and could put
   *   everything into one trace: theirs are linked with ours.
   * @returns undefined if nothing is recorded and no trace is continued.
   */
  begin(name: string, claimed: TraceParent | undefined, isTrusted: boolean): Trace | undefined;
  /** Begins the trace of a request to another service, which nobody has asked for now. */
  beginOutgoing(name: string): { readonly parent: TraceParent; readonly span: ActiveSpan | undefined };
  /** Sends what is left, for some seconds at most. */
  readonly close: () => Promise<void>;
}
