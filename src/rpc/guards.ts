import type { HandlerContext, Interceptor } from "@connectrpc/connect";
import type { ExplainError } from "./explain-error.ts";
import type { LimitBody } from "./limits/limit-body.ts";
import type { TakeSlice } from "./limits/take-slice.ts";

/** What every call passes before its handler, in this order. Calls in process have no body, so nothing limits theirs. */
export interface Guards {
  readonly gate: (context: HandlerContext) => Promise<void>;
  readonly body: LimitBody;
  readonly slice: TakeSlice;
  readonly errors: Interceptor;
  readonly concurrency: Interceptor;
  /** Bounds open streams. */
  readonly streams: Interceptor;
  /** Authorises and validates. */
  readonly call: Interceptor;
  readonly explain: ExplainError;
}
