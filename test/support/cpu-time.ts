const samples = 5;
/** What takes less is measured too coarsely. */
const leastMs = 5;

/**
 * Returns how many times the processor time of `baseline` another function takes. Both are measured in turn, and the middle one of the
 * ratios counts: where a system books processor time late, one sample has too little of it and another one too much.
 */
export function ratioOf(run: () => unknown, baseline: () => unknown): number {
  const count = countThatTakes(leastMs, baseline);
  const ratios = Array.from({ length: samples }, () => {
    const ofBaseline = cpuTimeOf(baseline, count);
    return cpuTimeOf(run, count) / ofBaseline;
  }).toSorted((left, right) => left - right);
  return ratios[Math.floor(samples / 2)] ?? NaN;
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
