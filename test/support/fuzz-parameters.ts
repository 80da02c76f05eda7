import { rounds } from "./rounds.ts";

interface FuzzParameters {
  readonly numRuns: number;
  readonly seed: number;
}

/**
 * Returns the parameters of fast-check for property tests. The number of cases is `TENANTRY_FUZZ_CASES` or, without it, the
 * given number, times two hundred in `npm run soak`. The seed is `TENANTRY_FUZZ_SEED` or, without it, random. Both are logged,
 * so that a run can be repeated.
 */
export function fuzzParameters(cases: number): FuzzParameters {
  const numRuns = Number(process.env["TENANTRY_FUZZ_CASES"] ?? rounds(cases, 200 * cases));
  const seed = Number(process.env["TENANTRY_FUZZ_SEED"] ?? Date.now() % 0x7fffffff);
  console.log(`${numRuns} cases with TENANTRY_FUZZ_SEED=${seed}`);
  return { numRuns, seed };
}

/** Returns the timeout of a test with this number of cases, in milliseconds. */
export function fuzzTimeout({ numRuns }: FuzzParameters): number {
  return 300_000 + numRuns * 30;
}
