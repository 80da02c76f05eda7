import type { HandlerContext, Interceptor } from "@connectrpc/connect";
import type { ExplainError } from "./explain-error.ts";
import type { LimitBody } from "./limits/limit-body.ts";
import type { TakeTurn } from "./limits/take-turn.ts";

/** What every call passes before its handler, in this order. Calls in process have no body. */
export interface Guards {
  readonly gate: (context: HandlerContext) => Promise<void>;
  readonly body: LimitBody;
  readonly turn: TakeTurn;
  readonly errors: Interceptor;
  readonly concurrency: Interceptor;
  /** Authorises and validates. */
  readonly call: Interceptor;
  readonly explain: ExplainError;
}
