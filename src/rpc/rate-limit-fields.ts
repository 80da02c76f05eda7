// The header fields of draft-ietf-httpapi-ratelimit-headers: lists of strings with parameters, as structured fields
// (RFC 9651) have them. Names of limits are plain, so nothing in them has to be escaped.

/** What is left of a limit. */
export interface Standing {
  readonly name: string;
  /** Requests until `resetMs` is over. */
  readonly left: number;
  readonly resetMs: number;
}

interface Policy {
  readonly name: string;
  /** Requests in a window. */
  readonly quota: number;
  readonly windowMs: number;
}

/** `RateLimit-Policy`: `"caller-reads";q=600;w=60, "org-reads";q=6000;w=60` */
export function formatPolicies(policies: readonly Policy[]): string {
  return policies.map(({ name, quota, windowMs }) => `"${name}";q=${quota};w=${toSeconds(windowMs)}`).join(", ");
}

/** `RateLimit`: `"caller-reads";r=550;t=12, "org-reads";r=4000;t=30` */
export function formatStandings(standings: readonly Standing[]): string {
  return standings.map(({ name, left, resetMs }) => `"${name}";r=${left};t=${toSeconds(resetMs)}`).join(", ");
}

/** Rounded up, so that whoever waits that long has waited long enough. */
function toSeconds(ms: number): number {
  return Math.max(0, Math.ceil(ms / 1_000));
}
