import { type Histogram, createHistogram } from "../../measures/histogram.ts";

/** What the deliveries of this server came to. */
export interface DeliveryCounts {
  readonly outcomes: { delivered: number; failed: number; dead: number; disabled: number };
  /** How long receivers took, in seconds. */
  readonly durations: Histogram;
  /** How many webhooks it delivers of at the moment. */
  running: number;
}

export function createDeliveryCounts(): DeliveryCounts {
  return {
    outcomes: { delivered: 0, failed: 0, dead: 0, disabled: 0 },
    durations: createHistogram([0.01, 0.03, 0.1, 0.3, 1, 3, 10, 15]),
    running: 0,
  };
}
