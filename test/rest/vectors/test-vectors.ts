import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { counts, judgements } from "./judgements.ts";
import { haveVectors } from "./load-vectors.ts";

export interface VectorCase {
  readonly name: string;
  /** Identifies the row in judged-otherwise.json. */
  readonly row: unknown;
  /** Returns the actual and the expected result. */
  run(): Outcome | Promise<Outcome>;
}

interface Outcome {
  readonly actual: unknown;
  readonly expected: unknown;
}

/**
 * Makes a test of each row of a file. A row with a judgement must differ from its expectation. A last test checks that each
 * judgement was used and that counts.json gives the number of rows.
 */
export function testVectors(title: string, file: string, cases: readonly VectorCase[]): void {
  const judged = new Set(judgements.filter((each) => each.file === file).map(({ row }) => JSON.stringify(row)));
  describe.skipIf(!haveVectors)(title, () => {
    const used = new Set<string>();
    test.each(cases.map((each) => [each.name, each] as const))("%s", async (_name, { row, run }) => {
      const key = JSON.stringify(row);
      const { actual, expected } = await run();
      if (!judged.has(key)) {
        expect(actual).toEqual(expected);
        return;
      }
      used.add(key);
      expect(isDeepStrictEqual(actual, expected), "judged otherwise, but the same").toBe(false);
    });

    test(`run ${counts[file]?.run} rows, ${judged.size} of them with another expectation`, () => {
      expect(cases).toHaveLength(counts[file]?.run ?? -1);
      expect([...judged].filter((key) => !used.has(key))).toEqual([]);
    });
  });
}
