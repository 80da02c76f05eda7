const samples = 3;
/** What takes less is measured too coarsely. */
const leastMs = 5;

/**
 * Returns how many times the processor time of `baseline` another function takes. Both are measured in turn, and the least time of
 * each counts, so that the result is about the same however slow and busy the machine is.
 */
export function ratioOf(run: () => unknown, baseline: () => unknown): number {
  const count = countThatTakes(leastMs, baseline);
  let [least, leastOfBaseline] = [Infinity, Infinity];
  for (let sample = 0; sample < samples; sample++) {
    leastOfBaseline = Math.min(leastOfBaseline, cpuTimeOf(baseline, count));
    least = Math.min(least, cpuTimeOf(run, count));
  }
  return least / leastOfBaseline;
}

/** Returns how often a function must run to take at least this processor time, also when it has been compiled. */
function countThatTakes(ms: number, run: () => unknown): number {
  let count = 1;
  while (cpuTimeOf(run, count) < ms || cpuTimeOf(run, count) < ms) count *= 2;
  return count;
}

/** Returns the processor time of a number of runs, in milliseconds. Unlike the time that passes, it omits what others take. */
function cpuTimeOf(run: () => unknown, count: number): number {
  const before = process.cpuUsage();
  for (let left = count; left > 0; left--) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
