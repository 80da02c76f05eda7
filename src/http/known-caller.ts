import type { HttpRequest } from "./http-messages.ts";

const ofKnownCallers = new WeakSet<HttpRequest>();

/** Says that the caller of a request is known and keeps its rates, so that the request does not count as anonymous. */
export function markKnownCaller(request: HttpRequest): void {
  ofKnownCallers.add(request);
}

export function hasKnownCaller(request: HttpRequest): boolean {
  return ofKnownCallers.has(request);
}
