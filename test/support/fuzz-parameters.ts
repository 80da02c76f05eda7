import { rounds } from "./rounds.ts";

interface FuzzParameters {
  readonly numRuns: number;
  readonly seed: number;
}

/**
 * Returns what fast-check runs properties with: so many cases, a hundred times as many in `npm run soak`, or as many as
 * `TENANTRY_FUZZ_CASES` says; from `TENANTRY_FUZZ_SEED`, or from a random seed. Both are logged, so that a run can be repeated.
 */
export function fuzzParameters(cases: number): FuzzParameters {
  const numRuns = Number(process.env["TENANTRY_FUZZ_CASES"] ?? rounds(cases, 100 * cases));
  const seed = Number(process.env["TENANTRY_FUZZ_SEED"] ?? Date.now() % 0x7fffffff);
  console.log(`${numRuns} cases with TENANTRY_FUZZ_SEED=${seed}`);
  return { numRuns, seed };
}

/** How long a test of so many cases may take, in milliseconds. */
export function fuzzTimeout({ numRuns }: FuzzParameters): number {
  return 30_000 + numRuns * 30;
}
