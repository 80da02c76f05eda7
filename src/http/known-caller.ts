import type { HttpRequest } from "./http-messages.ts";

const listeners = new WeakMap<HttpRequest, () => void>();

/** Runs a function when the caller of a request becomes known. */
export function onKnownCaller(request: HttpRequest, listener: () => void): void {
  listeners.set(request, listener);
}

/** Says that the caller of a request is known and keeps its rates, so that the request does not count as anonymous. */
export function markKnownCaller(request: HttpRequest): void {
  listeners.get(request)?.();
}
