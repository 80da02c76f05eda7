import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/**
 * Facts about transcoding collected from other implementations. They are not part of this repository; where they are
 * missing, the tests that read them are skipped.
 */
const folder = fileURLToPath(new URL("../../../../shared/vectors/", import.meta.url));

export const haveVectors = existsSync(folder);

if (!haveVectors) console.warn("transcoding vectors: skipped, there is no ../shared/vectors");

/** The rows of a file; none when the vectors are missing. */
export function loadVectors<Row>(file: string): Row[] {
  if (!haveVectors) return [];
  const rows: Row[] = JSON.parse(readFileSync(`${folder}${file}`, "utf8"));
  return rows;
}

interface Judgement {
  readonly file: string;
  readonly row: unknown;
  readonly reason: string;
}

const judgements: Judgement[] = JSON.parse(readFileSync(new URL("judged-otherwise.json", import.meta.url), "utf8"));

/**
 * What a row expects, as an argument of `toEqual`: where this repository decides it differently, anything else.
 *
 * @param row what identifies the row in judged-otherwise.json.
 */
export function expectedOf(file: string, row: unknown, expected: unknown): unknown {
  const key = JSON.stringify(row);
  const isJudged = judgements.some((judgement) => judgement.file === file && JSON.stringify(judgement.row) === key);
  return isJudged ? expect.toSatisfy((actual: unknown) => !isDeepStrictEqual(actual, expected)) : expected;
}
