// What the pace of anonymous requests and the handlers of requests tell each other.
import { createContextKey } from "@connectrpc/connect";
import type { HttpRequest } from "./http-messages.ts";

interface PacedRequest {
  /** Called when the caller of the request becomes known. */
  readonly onKnown: () => void;
  /** Takes further places at the pace. Returns the time until the first is due, in milliseconds; 0 for none. */
  readonly takePlaces: (count: number) => number;
}

const pacedRequests = new WeakMap<HttpRequest, PacedRequest>();

export function setPace(request: HttpRequest, paced: PacedRequest): void {
  pacedRequests.set(request, paced);
}

/** Says that the caller of a request is known and keeps its rates, so that the request does not count as anonymous. */
export function markKnownCaller(request: HttpRequest): void {
  pacedRequests.get(request)?.onKnown();
}

/**
 * Counts what a request does after its start, such as to answer one message of many, as a number of anonymous requests.
 *
 * @returns the time to wait for that, in milliseconds; 0 for none.
 */
export function takePlaces(request: HttpRequest, count: number): number {
  return pacedRequests.get(request)?.takePlaces(count) ?? 0;
}

/** The context key of `takePlaces` for the request of a call. */
export const takePlacesKey = createContextKey<(count: number) => number>(() => 0, { description: "take places" });
