import { numberOf } from "../../src/changes/revision.ts";

/** Returns a revision with this number, for rows that a test inserts. */
export function sampleRevision(number: number): string {
  return `00000000-0000-${number.toString(16).padStart(4, "0")}-8000-000000000000`;
}

/** Returns the numbers of revisions. */
export const numbersOf = (rows: readonly { readonly revision: string }[]): number[] =>
  rows.map(({ revision }) => Number(numberOf(revision)));
