/**
 * Returns the number of repetitions, or the cases: few in `npm test`, where they take at most some seconds, and many in
 * `npm run soak`.
 */
export function rounds<Extent>(few: Extent, many: Extent): Extent {
  return process.env["TENANTRY_SOAK"] === "1" ? many : few;
}

/**
 * Returns the seeds of a test's repetitions, from 1 on. `TENANTRY_SOAK_SEEDS=101-200` has those of a part of a soak, which can be
 * run by itself.
 */
export function seeds(few: number, many: number): readonly number[] {
  const [first = 1, last = rounds(few, many)] = process.env["TENANTRY_SOAK_SEEDS"]?.split("-").map(Number) ?? [];
  if (!(first >= 1 && last >= first)) throw new Error("TENANTRY_SOAK_SEEDS is two seeds from 1 on, such as 101-200");
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Returns the timeout of a test in `npm run soak`. */
export const soakTimeoutMs = 6 * 3_600_000;
