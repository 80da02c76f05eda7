interface FuzzParameters {
  readonly numRuns: number;
  readonly seed: number;
}

/**
 * What fast-check runs properties with: `TENANTRY_FUZZ_CASES` cases in place of the usual number, from
 * `TENANTRY_FUZZ_SEED` or a seed of its own, which is logged so that a run can be repeated.
 */
export function fuzzParameters(cases: number): FuzzParameters {
  const numRuns = Number(process.env["TENANTRY_FUZZ_CASES"] ?? cases);
  const seed = Number(process.env["TENANTRY_FUZZ_SEED"] ?? Date.now() % 0x7fffffff);
  console.log(`${numRuns} cases with TENANTRY_FUZZ_SEED=${seed}`);
  return { numRuns, seed };
}

/** How long a test of so many cases may take, in milliseconds. */
export function fuzzTimeout({ numRuns }: FuzzParameters): number {
  return 30_000 + numRuns * 30;
}
