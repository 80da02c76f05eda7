import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { counts, judgements } from "./judgements.ts";
import { haveVectors, loadVectors } from "./load-vectors.ts";

const run = Object.values(counts).reduce((sum, each) => sum + each.run, 0);
const apart = Object.values(counts).reduce((sum, each) => sum + (each.apart ?? 0), 0);

describe("transcoding vectors", () => {
  test(`are ${run} rows, ${apart} more belong to others, and ${judgements.length} are judged otherwise: under 2 %`, () => {
    expect(judgements.length / run).toBeLessThan(0.02);
  });

  test("are judged once, for a reason, and in files that are there", () => {
    const keys = judgements.map(({ file, row }) => `${file} ${JSON.stringify(row)}`);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
    expect(judgements.filter(({ file, reason }) => counts[file] === undefined || reason.length < 20)).toEqual([]);
  });

  test.skipIf(!haveVectors)("are all accounted for", () => {
    // What no row is made of: the types that query.json names.
    const files = readdirSync(new URL("../../../../shared/vectors/", import.meta.url)).filter(
      (file) => file.endsWith(".json") && file !== "schema.json",
    );
    expect(Object.keys(counts).toSorted()).toEqual(files.toSorted());
    // OK is a row of status.json, but no error.
    expect(run + apart + 1).toBe(files.reduce((sum, file) => sum + countRows(file), 0));
  });
});

/** In matching.json rows are in groups, each of which has rules and requests. */
function countRows(file: string): number {
  const rows = loadVectors<{ requests?: unknown[] }>(file);
  return rows.reduce((sum, row) => sum + (row.requests?.length ?? 1), 0);
}
