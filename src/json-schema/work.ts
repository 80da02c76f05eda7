/** What a validation may still do. A step looks at one keyword, one item or one character. */
export interface Work {
  left: number;
  /** How many schemas are being applied within each other. */
  depth: number;
}

/** More would not fit on the stack. Values are nested 100 deep at most. */
const maxDepth = 1_000;

/** A validation needs more steps than it may take. */
export class WorkExceeded extends Error {
  override readonly name = "WorkExceeded";
}

/** @param steps how many it may take. */
export function createWork(steps: number): Work {
  return { left: steps, depth: 0 };
}

/** @throws WorkExceeded when fewer steps are left. */
export function spend(work: Work, steps: number): void {
  work.left -= steps;
  if (work.left < 0) throw new WorkExceeded("takes too many steps");
}

const charactersOfStep = 64;

/** Returns what an identifier takes, or the pointer to a schema, which has the names of all around it. */
export function stepsOfText(text: string): number {
  return text.length / charactersOfStep;
}

/** Runs a function one level deeper. @throws WorkExceeded when that is too deep. */
export function nested<Result>(work: Work, run: () => Result): Result {
  if (++work.depth > maxDepth) throw new WorkExceeded(`is nested in itself more than ${maxDepth} times`);
  const result = run();
  work.depth--;
  return result;
}
