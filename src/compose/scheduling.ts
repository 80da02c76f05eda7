import type { Config } from "../config.ts";
import type { Caller } from "../identity/caller.ts";
import { type CountCall, createCountCall } from "../rpc/limits/rate-limits.ts";
import { type BodySlots, createBodySlots } from "../scheduling/body-slots.ts";
import { type FairQueue, createFairQueue } from "../scheduling/fair-queue.ts";
import { queues } from "../scheduling/settings.ts";
import { type TimeSlices, createTimeSlices } from "../scheduling/time-slices.ts";

type Settings = Pick<
  Config,
  "rateReadsPerCaller" | "rateReadsPerOrg" | "rateWritesPerCaller" | "rateWritesPerOrg" | "readConnections"
>;

export interface Scheduling {
  readonly timeSlices: TimeSlices;
  /** Where lists, and previews of access, wait for each other. */
  readonly listQueue: FairQueue;
  readonly previewQueue: FairQueue;
  /** Where calls wait that have a whole org in memory. */
  readonly fileQueue: FairQueue;
  readonly bodySlots: BodySlots;
  readonly countCall: CountCall | undefined;
  /** Counts a request that is no call against the rate limits of a member. @throws ServiceError RATE_LIMITED */
  readonly countRequest: (member: Pick<Caller, "memberId" | "orgId">, reads: boolean) => Promise<void>;
}

/** @param rateWindowMs the window of the rate limits. */
export function composeScheduling(settings: Settings, rateWindowMs: number): Scheduling {
  const { readConnections } = settings;
  const countCall = createCountCall(settings, rateWindowMs);
  return {
    timeSlices: createTimeSlices(),
    listQueue: createFairQueue({ capacity: readConnections, perTarget: readConnections }),
    previewQueue: createFairQueue({ capacity: queues.previews, perTarget: 1 }),
    fileQueue: createFairQueue({
      capacity: queues.files,
      perTarget: 1,
      maxWaiting: queues.filesWaiting,
      waitsFor: "other orgs to be read",
    }),
    bodySlots: createBodySlots(),
    countCall,
    countRequest(member, reads) {
      const refusal = countCall?.(member, reads).refusal;
      return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
    },
  };
}
