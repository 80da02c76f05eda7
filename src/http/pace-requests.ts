import proxyAddress from "proxy-addr";
import { createAnonymousPace } from "../scheduling/anonymous-pace.ts";
import { anonymous } from "../scheduling/settings.ts";
import { connectionOf, peerOf } from "./client-address.ts";
import { handleLater } from "./handle-later.ts";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";
import type { RequestPace } from "./request-pace.ts";

interface PaceOptions {
  readonly trustedProxies: readonly string[];
  /** Of one address and of callers that are not known, in a second. */
  readonly perSecond: number;
  /** Called instead of the handler when a request would wait too long. Answers it. */
  readonly onTooMany: (network: string, response: HttpResponse) => void;
}

/**
 * Handles a request when the pace of its network allows it.
 *
 * @param handle answers the request.
 * @param onKnown called when the caller of the request is known.
 */
export type HandleAtPace = (
  handle: (pace: RequestPace) => void | Promise<void>,
  request: HttpRequest,
  response: HttpResponse,
  network: string,
  onKnown: () => void,
) => void | Promise<void>;

/** Creates a function that lets the anonymous requests of a network wait once there are many of them. */
export function createHandleAtPace({ trustedProxies, perSecond, onTooMany }: PaceOptions): HandleAtPace {
  const pace = createAnonymousPace({ perSecond });
  const isTrusted = proxyAddress.compile([...trustedProxies]);

  const ownConnectionOf = (request: HttpRequest): object | undefined => {
    if (trustedProxies.length === 0) return connectionOf(request);
    const peer = peerOf(request);
    return peer === undefined || isTrusted(peer, 0) ? undefined : connectionOf(request);
  };

  return (handle, request, response, network, onKnown) => {
    const { waitMs, end } = pace.begin(network, ownConnectionOf(request));
    let isHandled = false;
    let isKnown = false;
    const own: RequestPace = {
      // Before the request ends, because many requests may be in flight on one connection.
      markKnown() {
        if (isKnown) return;
        isKnown = true;
        end("known");
        onKnown();
      },
      take: (count) => pace.take(network, count),
    };
    response.on("close", () => {
      if (!isKnown) end(isHandled ? "anonymous" : "not handled");
    });
    const begin = (): void | Promise<void> => {
      isHandled = true;
      return handle(own);
    };
    if (waitMs > anonymous.maxWaitMs) return onTooMany(network, response);
    return handleLater(waitMs, response, begin);
  };
}
