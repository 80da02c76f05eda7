/** What takes less is measured too coarsely: a system may know processor time as of its last tick, of which there are as few as a hundred a second. */
const leastMs = 5;
/** Some ticks, so that one more or less does not matter. */
const sumMs = 50;
const leastSamples = 5;

/**
 * Returns how many times the processor time of `baseline` another function takes. Both are measured in turn, until that of the baseline is
 * long in sum: a sample of it that falls between two ticks has none at all.
 */
export function ratioOf(run: () => unknown, baseline: () => unknown): number {
  const count = countThatTakes(leastMs, baseline);
  let [ofRun, ofBaseline] = [0, 0];
  for (let samples = 0; samples < leastSamples || ofBaseline < sumMs; samples++) {
    ofBaseline += cpuTimeOf(baseline, count);
    ofRun += cpuTimeOf(run, count);
  }
  return ofRun / ofBaseline;
}

/** Returns how often a function must run to take at least this processor time, also when it has been compiled. */
function countThatTakes(ms: number, run: () => unknown): number {
  let count = 1;
  while (cpuTimeOf(run, count) < ms || cpuTimeOf(run, count) < ms) count *= 2;
  return count;
}

/**
 * Returns the processor time of a number of runs, in milliseconds. Unlike the time that passes, it omits what other processes take, and
 * what the threads that compile and collect garbage do meanwhile for the tests before.
 */
function cpuTimeOf(run: () => unknown, count: number): number {
  const before = process.threadCpuUsage();
  for (let left = count; left > 0; left--) run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
