import type { HttpResponse } from "./http-messages.ts";

/** Handles a request after a time, at once if that is 0; not at all if its client leaves before. */
export function handleLater(
  waitMs: number,
  response: HttpResponse,
  handle: () => void | Promise<void>,
): void | Promise<void> {
  if (waitMs === 0) return handle();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      response.off("close", leave);
      Promise.resolve().then(handle).then(resolve, reject);
    }, waitMs);
    const leave = (): void => {
      clearTimeout(timer);
      resolve();
    };
    response.once("close", leave);
  });
}
