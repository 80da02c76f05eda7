import { ServiceError } from "../errors/service-error.ts";
import { retryAfterMs } from "./settings.ts";

/**
 * Returns the error RATE_LIMITED for a call that must not wait, because too many do.
 *
 * @param subject whose calls they are: `org`.
 * @param waitsFor what they wait for: `the database`.
 */
export function tooMany(subject: "org" | "caller", limit: number, waitsFor: string): ServiceError {
  const description = `more than ${limit} calls of the ${subject} wait for ${waitsFor}`;
  return new ServiceError("RATE_LIMITED", `${description}; try again in ${retryAfterMs / 1_000} s`, {
    retryAfterMs,
    quotas: [{ subject, description }],
  });
}
