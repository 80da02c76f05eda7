import { readFileSync } from "node:fs";

/** A row whose expectation this repository does not share. */
interface Judgement {
  readonly file: string;
  /** Names the row in its file: its index, or what tells it from the others. */
  readonly row: unknown;
  readonly reason: string;
}

interface Counts {
  readonly run: number;
  /** What belongs to others and is not run, such as the protocols that connect-node serves. */
  readonly apart?: number;
}

export const judgements = readJson("judged-otherwise.json") as readonly Judgement[];

/** How many rows of each file are run, as the tests of the file found it. */
export const counts = readJson("counts.json") as Readonly<Record<string, Counts>>;

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
}
