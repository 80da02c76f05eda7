/** Returns the number of repetitions: few in `npm test`, where they take at most some seconds, and many in `npm run soak`. */
export function rounds(few: number, many: number): number {
  return process.env["TENANTRY_SOAK"] === "1" ? many : few;
}

/** Returns the timeout of a test in `npm run soak`. */
export const soakTimeoutMs = 6 * 3_600_000;
