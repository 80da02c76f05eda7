// What the pace of anonymous requests and the handlers of requests tell each other.
import { createContextKey } from "@connectrpc/connect";
import type { HttpRequest } from "./http-messages.ts";

interface Pace {
  /** Called when the caller of the request becomes known. */
  readonly onKnown: () => void;
  /** Takes further places at the pace. Returns the time until the first is due, in milliseconds; 0 for none. */
  readonly takePlaces: (count: number) => number;
}

/**
 * A property of requests. A WeakMap with an entry for each request would keep them through several collections of the young generation,
 * each of which copies them: 30 ms in every 160 with many small calls.
 */
const pace = Symbol("pace");

type PacedRequest = HttpRequest & { [pace]?: Pace };

export function setPace(request: PacedRequest, own: Pace): void {
  request[pace] = own;
}

/** Says that the caller of a request is known and keeps its rates, so that the request does not count as anonymous. */
export function markKnownCaller(request: PacedRequest): void {
  request[pace]?.onKnown();
}

/**
 * Counts what a request does after its start, such as to answer one message of many, as a number of anonymous requests.
 *
 * @returns the time to wait for that, in milliseconds; 0 for none.
 */
export function takePlaces(request: PacedRequest, count: number): number {
  return request[pace]?.takePlaces(count) ?? 0;
}

/** The context key of `takePlaces` for the request of a call. */
export const takePlacesKey = createContextKey<(count: number) => number>(() => 0, { description: "take places" });
