import { ImportError } from "../import-error.ts";
import { printable } from "../printable.ts";
import type { Fail } from "./read-shape.ts";

const mostShown = 20;

export interface ProblemList {
  readonly add: Fail;
  /** @throws ImportError with the first problems and the number of further ones, if there are problems. */
  throwIfAny(): void;
}

export function createProblemList(file: string): ProblemList {
  const shown: string[] = [];
  let count = 0;
  return {
    add(place, problem) {
      count++;
      if (shown.length < mostShown) shown.push(`${place === "" ? "the content" : `${printable(place)}:`} ${problem}`);
    },
    throwIfAny() {
      if (count === 0) return;
      const more = count > shown.length ? [`… and ${count - shown.length} more`] : [];
      const heading = `${file} has ${count === 1 ? "a problem" : `${count} problems`}:`;
      throw new ImportError([heading, ...[...shown, ...more].map((line) => `  ${line}`)].join("\n"));
    },
  };
}
