import { rounds } from "../../support/rounds.ts";

/** `TENANTRY_FUZZ_CASES`: how many cases each of the two fuzz tests compares. */
export const fuzzCases = Number(process.env["TENANTRY_FUZZ_CASES"] ?? rounds(20_000, 2_000_000));

/** `TENANTRY_FUZZ_SEED`: repeats the run that printed it. */
export const fuzzSeed = Number(process.env["TENANTRY_FUZZ_SEED"] ?? Date.now() % 0x7fffffff);

/** Long enough for a hundred times the usual number of cases. */
export const fuzzTimeoutMs = 30_000 + fuzzCases * 10;

export function announce(what: string): void {
  console.info(`fuzzing ${what}: ${fuzzCases} cases, repeat with TENANTRY_FUZZ_SEED=${fuzzSeed}`);
}
