/** Below this budget, what a folder takes says little: starting a process, or a busy moment, can double it. */
const smallSeconds = 10;
/** What any folder may take beyond its budget: waiting for processes on busy cores does not grow as other work does. */
const allowanceSeconds = 30;
/** A machine that is slower than this, or as busy, slows some folders down more than others, and refuses none for its seconds. */
const comparableSlowness = 1.5;

interface FolderTime {
  readonly folder: string;
  readonly seconds: number;
  readonly budget: number;
  /** The most that is accepted on this machine. */
  readonly limit: number;
}

interface Judgement {
  /** How many times slower than the one of the budgets this machine is, or how busy. At least 1. */
  readonly slowness: number;
  /** The slowest first. */
  readonly times: readonly FolderTime[];
  /** Why the run fails. Each says what to do. */
  readonly errors: readonly string[];
  /** What took too long on a machine that is too slow or too busy for that to count. */
  readonly warnings: readonly string[];
}

/**
 * Compares the seconds that folders took with their budgets, both by folder. A slow or busy machine makes most folders slower, so
 * that the median of what they took beside their budgets is how slow it is. A change that makes a few folders slower does not move
 * the median.
 */
export function judgeFolderTimes(
  seconds: Readonly<Record<string, number>>,
  budgets: Readonly<Record<string, number>>,
): Judgement {
  const found = Object.entries(seconds).map(([folder, taken]) => ({ folder, seconds: taken, budget: budgets[folder] }));
  const known = found.filter((each): each is typeof each & { readonly budget: number } => each.budget !== undefined);
  const ratios = known.filter(({ budget }) => budget >= smallSeconds).map((each) => each.seconds / each.budget);
  const slowness = Math.max(1, median(ratios) ?? 1);
  const times = known
    .map((each) => ({ ...each, limit: slowness * (each.budget + Math.max(each.budget, allowanceSeconds)) }))
    .toSorted((left, right) => right.seconds - left.seconds);
  const slow = times.filter((each) => each.seconds > each.limit).map((each) => tooSlow(each));
  const counts = slowness <= comparableSlowness;
  const unknown = found.filter(({ budget }) => budget === undefined);
  const gone = Object.keys(budgets).filter((folder) => seconds[folder] === undefined);
  return {
    slowness,
    times,
    errors: [
      ...(counts ? slow : []),
      ...unknown.map(
        (each) =>
          `test/${each.folder} has no budget: add what it took, ${Math.ceil(each.seconds)} s, to test/time-budgets.ts`,
      ),
      ...gone.map((folder) => `test/${folder} has no tests: remove its budget from test/time-budgets.ts`),
    ],
    warnings: counts ? [] : slow,
  };
}

function tooSlow({ folder, seconds, budget, limit }: FolderTime): string {
  return (
    `test/${folder} took ${Math.round(seconds)} s, and its budget is ${budget} s: at most ${Math.floor(limit)} s are ` +
    "accepted on this machine. Make its tests faster; if what they test has grown, raise its budget in test/time-budgets.ts"
  );
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((left, right) => left - right)[Math.floor((values.length - 1) / 2)];
}
