import { type Histogram, createHistogram } from "../../measures/histogram.ts";

/** What the events of this server came to. */
export interface SignalCounts {
  /** Those that were pushed, or acknowledged in a poll, or refused there; and the streams that were disabled. */
  readonly outcomes: { delivered: number; failed: number; acknowledged: number; refused: number; disabled: number };
  /** How long receivers took for a push, in seconds. */
  readonly durations: Histogram;
  /** How many verification events it was asked for. */
  verifications: number;
  /** How many streams it pushes events of at the moment. */
  running: number;
}

export function createSignalCounts(): SignalCounts {
  return {
    outcomes: { delivered: 0, failed: 0, acknowledged: 0, refused: 0, disabled: 0 },
    durations: createHistogram([0.01, 0.03, 0.1, 0.3, 1, 3, 10, 15]),
    verifications: 0,
    running: 0,
  };
}
