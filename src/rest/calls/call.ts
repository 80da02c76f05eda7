import type { HandlerContext } from "@connectrpc/connect";
import type { Route } from "./route.ts";
import type { RouteMatch } from "../routing/route-trie.ts";
import type { CallLifetime, RestRequest, RestResponse } from "./call-context.ts";
import type { ListPages } from "./list-pages.ts";
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
  /** How a list is sent as lines, and their media type; undefined for other responses. */
  readonly lines: { readonly pages: ListPages; readonly contentType: string } | undefined;
  readonly lifetime: CallLifetime;
  readonly context: HandlerContext;
  /** Responds with an error. A streamed response replaces this function with its own. */
  fail: (thrown: unknown) => void;
}
