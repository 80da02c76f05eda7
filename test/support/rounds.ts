/**
 * Returns how often to repeat something: a few times in `npm test`, which takes at most some seconds for it, and many times in
 * `npm run soak`.
 */
export function rounds(few: number, many: number): number {
  return process.env["TENANTRY_SOAK"] === "1" ? many : few;
}

/** How long a test may take in `npm run soak`. */
export const soakTimeoutMs = 6 * 3_600_000;
