import type { Config } from "../config.ts";
import type { Caller } from "../identity/caller.ts";
import { type CountCall, createCountCall } from "../rpc/limits/rate-limits.ts";
import { type FairQueue, createFairQueue } from "../standard-methods/fair-queue.ts";
import { type Turns, createTurns } from "../turns/turns.ts";

type Settings = Pick<
  Config,
  "rateReadsPerCaller" | "rateReadsPerOrg" | "rateWritesPerCaller" | "rateWritesPerOrg" | "readConnections"
>;

/** How callers share this server. */
export interface Scheduling {
  readonly turns: Turns;
  /** Where lists, and previews of access, wait for each other. */
  readonly listQueue: FairQueue;
  readonly previewQueue: FairQueue;
  /** Counts calls against the rate limits; undefined if there are none. */
  readonly countCall: CountCall | undefined;
  /** Counts a request that is no call against the rate limits of a member. @throws ServiceError RATE_LIMITED */
  readonly countRequest: (member: Pick<Caller, "memberId" | "orgId">, reads: boolean) => Promise<void>;
}

/** One caller's org, and one org that is written, has one of them at most. */
const maxPreviews = 2;

/** @param rateWindowMs the window of the rate limits. */
export function composeScheduling(settings: Settings, rateWindowMs: number): Scheduling {
  const { readConnections } = settings;
  const countCall = createCountCall(settings, rateWindowMs);
  return {
    turns: createTurns(),
    listQueue: createFairQueue({ capacity: readConnections, perTarget: readConnections }),
    previewQueue: createFairQueue({ capacity: maxPreviews, perTarget: 1 }),
    countCall,
    countRequest(member, reads) {
      const refusal = countCall?.(member, reads).refusal;
      return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
    },
  };
}
