// How long the calls of quiet orgs take, while all is quiet and later, without the time of failovers.

interface Sample {
  readonly startedAt: number;
  readonly ms: number;
}

/** A time that does not count, in milliseconds of `Date.now`. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

export type CallKind = "read" | "write";

interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Latencies {
  add(kind: CallKind, startedAt: number, ms: number): void;
  /** Summarises the calls that started in this time, except those that ran at any moment of the windows. */
  summarise(kind: CallKind, from: number, to: number, except: readonly Window[]): Percentiles;
}

export function createLatencies(): Latencies {
  const samples: Record<CallKind, Sample[]> = { read: [], write: [] };
  return {
    add: (kind, startedAt, ms) => void samples[kind].push({ startedAt, ms }),
    summarise(kind, from, to, except) {
      const counts = ({ startedAt, ms }: Sample): boolean =>
        startedAt >= from &&
        startedAt < to &&
        !except.some((window) => startedAt < window.to && startedAt + ms > window.from);
      const sorted = samples[kind]
        .filter(counts)
        .map(({ ms }) => ms)
        .toSorted((one, other) => one - other);
      const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
      return { count: sorted.length, p50: at(0.5), p99: at(0.99) };
    },
  };
}
