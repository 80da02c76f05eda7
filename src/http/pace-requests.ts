import proxyAddress from "proxy-addr";
import { createAnonymousPace } from "./anonymous-pace.ts";
import { connectionOf, peerOf } from "./client-address.ts";
import { handleLater } from "./handle-later.ts";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";
import type { PacedHandler, RequestPace } from "./request-pace.ts";

interface PaceOptions {
  readonly trustedProxies: readonly string[];
  /** Of one address and of callers that are not known, in a second. */
  readonly perSecond: number;
  /** Called instead of the handler when a request would wait too long. Answers it. */
  readonly onTooMany: (network: string, response: HttpResponse) => void;
}

/**
 * Handles a request when its place is due.
 *
 * @param onCaller called when the caller of the request is known.
 */
export type HandleAtPace = (
  handler: PacedHandler,
  request: HttpRequest,
  response: HttpResponse,
  network: string,
  onCaller: () => void,
) => void | Promise<void>;

/** As long as clients wait that have two thousand requests in flight. */
const maxWaitMs = 2_000;

/** Creates a function that lets the anonymous requests of a network wait once there are many of them. */
export function createHandleAtPace({ trustedProxies, perSecond, onTooMany }: PaceOptions): HandleAtPace {
  const pace = createAnonymousPace({ perSecond });
  const isTrusted = proxyAddress.compile([...trustedProxies]);

  /** Returns the connection of a request if no proxy has others on it. */
  const ownConnectionOf = (request: HttpRequest): object | undefined => {
    if (trustedProxies.length === 0) return connectionOf(request);
    const peer = peerOf(request);
    return peer === undefined || isTrusted(peer, 0) ? undefined : connectionOf(request);
  };

  return (handler, request, response, network, onCaller) => {
    const { waitMs, end } = pace.begin(network, ownConnectionOf(request));
    let isHandled = false;
    let isKnown = false;
    const own: RequestPace = {
      // At once: many calls of one client may be in flight.
      markKnown() {
        if (isKnown) return;
        isKnown = true;
        end("known");
        onCaller();
      },
      take: (count) => pace.take(network, count),
    };
    response.on("close", () => {
      if (!isKnown) end(isHandled ? "anonymous" : "not handled");
    });
    const handle = (): void | Promise<void> => {
      isHandled = true;
      return handler(request, response, own);
    };
    if (waitMs > maxWaitMs) return onTooMany(network, response);
    return handleLater(waitMs, response, handle);
  };
}
