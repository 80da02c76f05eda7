/** Values that are counted by their size, in arrays: to count one allocates nothing and hashes nothing. */
export interface Histogram {
  /** The largest value of each bucket but the last, ascending. */
  readonly bounds: readonly number[];
  /** The number of values in each bucket: one more than there are bounds. */
  readonly counts: number[];
  sum: number;
}

/** @param bounds the largest value of each bucket but the last, ascending. */
export function createHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
}

export function observe(histogram: Histogram, value: number): void {
  const { bounds, counts } = histogram;
  let bucket = 0;
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
  (counts[bucket] as number) += 1;
  histogram.sum += value;
}

/** Bounds for times of calls, in seconds: nine, because each series has a line for each. */
export const callSeconds: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10];

/** Bounds for waits, in seconds. */
export const waitSeconds: readonly number[] = [0.001, 0.01, 0.1, 1, 10];
