import type { HandlerContext } from "@connectrpc/connect";
import type { Route } from "../compile-routes.ts";
import type { RouteMatch } from "../routing/route-trie.ts";
import type { CallLifetime, RestRequest, RestResponse } from "./call-context.ts";
import type { Preconditions } from "./preconditions.ts";
import type { Presentation } from "./system-parameters.ts";

/** A request whose route is found, and what of it is not part of the message. */
export interface Call {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly match: RouteMatch<Route>;
  /** Without the system parameters. */
  readonly query: string;
  readonly presentation: Presentation;
  readonly preconditions: Preconditions | undefined;
  readonly lifetime: CallLifetime;
  /** What interceptors and the method see of the call. */
  readonly context: HandlerContext;
  /** Answers with an error, in whatever form it can still be told: a stream that has begun puts its own here. */
  fail: (thrown: unknown) => void;
}
