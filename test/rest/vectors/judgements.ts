import { readFileSync } from "node:fs";

/** A row for which this implementation deliberately differs from the expectation. */
interface Judgement {
  readonly file: string;
  /** Identifies the row in its file: its index, or its distinguishing fields. */
  readonly row: unknown;
  readonly reason: string;
}

interface Counts {
  readonly run: number;
  /** The rows that are not run, such as those of protocols that connect-node serves. */
  readonly apart?: number;
}

export const judgements = readJson("judged-otherwise.json") as readonly Judgement[];

/** The number of rows of each file that are run. */
export const counts = readJson("counts.json") as Readonly<Record<string, Counts>>;

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
}
