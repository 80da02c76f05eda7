// The header fields of draft-ietf-httpapi-ratelimit-headers: lists of strings with parameters, as structured fields (RFC 9651).
// The names of limits need no escaping.

/** The remaining quota of a limit. */
export interface LimitState {
  readonly name: string;
  /** The number of requests until `resetMs` has passed. */
  readonly left: number;
  readonly resetMs: number;
}

interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly windowMs: number;
}

/** `RateLimit-Policy`: `"caller-reads";q=600;w=60, "org-reads";q=6000;w=60` */
export function formatPolicies(policies: readonly Policy[]): string {
  return policies.map(({ name, quota, windowMs }) => `"${name}";q=${quota};w=${toSeconds(windowMs)}`).join(", ");
}

/** `RateLimit`: `"caller-reads";r=550;t=12, "org-reads";r=4000;t=30` */
export function formatLimitStates(limitStates: readonly LimitState[]): string {
  return limitStates.map(({ name, left, resetMs }) => `"${name}";r=${left};t=${toSeconds(resetMs)}`).join(", ");
}

/** Rounds up, so that a caller who waits this long does not retry too early. */
function toSeconds(ms: number): number {
  return Math.max(0, Math.ceil(ms / 1_000));
}
