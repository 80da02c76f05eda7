import { rounds } from "../../support/rounds.ts";

/** `TENANTRY_FUZZ_CASES`: the number of cases of each fuzz test. */
export const fuzzCases = Number(process.env["TENANTRY_FUZZ_CASES"] ?? rounds(2_500, 2_000_000));

/** `TENANTRY_FUZZ_SEED`: repeats the run that printed this seed. */
export const fuzzSeed = Number(process.env["TENANTRY_FUZZ_SEED"] ?? Date.now() % 0x7fffffff);

/** Sufficient for a hundred times the default number of cases. */
export const fuzzTimeoutMs = 300_000 + fuzzCases * 10;

export function announce(what: string): void {
  console.info(`fuzzing ${what}: ${fuzzCases} cases, repeat with TENANTRY_FUZZ_SEED=${fuzzSeed}`);
}
