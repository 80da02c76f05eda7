import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { counts, judgements } from "./judgements.ts";
import { haveVectors } from "./load-vectors.ts";

export interface VectorCase {
  readonly name: string;
  /** Names the row in judged-otherwise.json. */
  readonly row: unknown;
  /** What is here, and what the row says. */
  run(): Outcome | Promise<Outcome>;
}

interface Outcome {
  readonly actual: unknown;
  readonly expected: unknown;
}

/**
 * Makes a test of each row of a file. A row that is judged otherwise must differ from what it expects. After them comes a
 * test that each judgement was used and that as many rows were run as counts.json says.
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

    test(`are ${counts[file]?.run} rows, ${judged.size} of them judged otherwise`, () => {
      expect(cases).toHaveLength(counts[file]?.run ?? -1);
      expect([...judged].filter((key) => !used.has(key))).toEqual([]);
    });
  });
}
