import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { counts, judgements } from "./judgements.ts";
import { haveVectors, loadVectors } from "./load-vectors.ts";

const run = Object.values(counts).reduce((sum, each) => sum + each.run, 0);
const apart = Object.values(counts).reduce((sum, each) => sum + (each.apart ?? 0), 0);

describe("transcoding vectors", () => {
  test(`run ${run} rows, skip ${apart}, and expect another result for ${judgements.length}, under 2 %`, () => {
    expect(judgements.length / run).toBeLessThan(0.02);
  });

  test("have at most one judgement each, with a reason, in an existing file", () => {
    const keys = judgements.map(({ file, row }) => `${file} ${JSON.stringify(row)}`);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
    expect(judgements.filter(({ file, reason }) => counts[file] === undefined || reason.length < 20)).toEqual([]);
  });

  test.skipIf(!haveVectors)("are all counted", () => {
    // schema.json contains no rows, only the types that query.json refers to.
    const files = readdirSync(new URL("../../../../shared/vectors/", import.meta.url)).filter(
      (file) => file.endsWith(".json") && file !== "schema.json",
    );
    expect(Object.keys(counts).toSorted()).toEqual(files.toSorted());
    // The row OK of status.json is not run, because it is not an error.
    expect(run + apart + 1).toBe(files.reduce((sum, file) => sum + countRows(file), 0));
  });
});

/** Returns the number of rows. matching.json groups its requests by rule set. */
function countRows(file: string): number {
  const rows = loadVectors<{ requests?: unknown[] }>(file);
  return rows.reduce((sum, row) => sum + (row.requests?.length ?? 1), 0);
}
