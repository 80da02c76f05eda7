/**
 * Returns the number of repetitions, or the cases: few in `npm test`, where they take at most some seconds, and many in
 * `npm run soak`.
 */
export function rounds<Extent>(few: Extent, many: Extent): Extent {
  return process.env["TENANTRY_SOAK"] === "1" ? many : few;
}

/** Returns the timeout of a test in `npm run soak`. */
export const soakTimeoutMs = 6 * 3_600_000;
