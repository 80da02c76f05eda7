import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { FileRecord } from "./compare-statements.ts";

/**
 * Returns what the test files of a run sent, from the folder that RECORD_STATEMENTS named (test/support/record-statements.ts).
 *
 * @throws Error if there is nothing in it.
 */
export function readRecords(folder: string): readonly FileRecord[] {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
  const records = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as FileRecord);
  if (records.length === 0)
    throw new Error(`${folder} has no statements; RECORD_STATEMENTS names it in a run of the tests`);
  return records;
}
