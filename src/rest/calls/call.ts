import type { HandlerContext } from "@connectrpc/connect";
import type { Route } from "./route.ts";
import type { RouteMatch } from "../routing/route-trie.ts";
import type { CallLifetime, RestRequest, RestResponse } from "./call-context.ts";
import type { Preconditions } from "./preconditions.ts";
import type { Presentation } from "./system-parameters.ts";

/** A request that matched a route, with everything that belongs to it other than the message. */
export interface Call {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly match: RouteMatch<Route>;
  /** The query without the system parameters. */
  readonly query: string;
  readonly presentation: Presentation;
  readonly preconditions: Preconditions | undefined;
  /** The media type of a list that is sent as lines; undefined for other responses. */
  readonly lineType: string | undefined;
  readonly lifetime: CallLifetime;
  readonly context: HandlerContext;
  /** Responds with an error. A streamed response replaces this function with its own. */
  fail: (thrown: unknown) => void;
}
