// A long body takes memory until it is parsed, and collecting much garbage stops all calls for long. So an org has a number of slots for
// long bodies, which its callers share. A body takes a slot before it is read and gives it back when it is parsed; of the bodies with a
// slot, only a few are read at a time. What is not read stays in the buffers of its connection. The beginning of each body is read
// without a slot, so a client that sends only the head of a request takes none.
import { type ContextValues, type HandlerContext, createContextKey } from "@connectrpc/connect";
import { type FairQueueOptions, type QueueActivity, createFairQueue } from "./fair-queue.ts";
import { bodies } from "./settings.ts";

interface BodySlotsOptions {
  /** Runs a function after some milliseconds, unless the returned function is called. */
  readonly after?: (run: () => void, ms: number) => () => void;
}

type WaitingCall = Pick<HandlerContext, "signal" | "values">;

export interface BodySlots {
  /**
   * Returns a promise of a slot for a long body; undefined if the call has a slot already.
   *
   * It rejects with ServiceError RATE_LIMITED when too many bodies of the caller wait, and when the call ends.
   */
  take(caller: { readonly memberId: string; readonly orgId: string }, call: WaitingCall): Promise<void> | undefined;
  /** Of the bodies that are in memory, and of those of them that are being read. */
  readonly held: QueueActivity;
  readonly reading: QueueActivity;
}

const leaveKey = createContextKey<((bytes: number) => void) | undefined>(undefined, {
  description: "leaves the slot of a long body",
});

export function createBodySlots({ after = runAfter }: BodySlotsOptions = {}): BodySlots {
  // These queues share slots among the callers of an org: a caller is in the place of the queue's org, and its org is the target.
  const shared = {
    of: "caller",
    waitsFor: "their bodies to be read",
    maxWaiting: bodies.maxWaiting,
  } as const satisfies Partial<FairQueueOptions>;
  const { heldPerOrg, heldAtOnce, readPerOrg, readAtOnce } = bodies;
  const held = createFairQueue({ ...shared, capacity: heldAtOnce, perTarget: heldPerOrg, perOrg: heldPerOrg / 2 });
  const reading = createFairQueue({ ...shared, capacity: readAtOnce, perTarget: readPerOrg, perOrg: readPerOrg / 2 });

  return {
    held: held.activity,
    reading: reading.activity,

    take({ memberId, orgId }, { signal, values }) {
      if (values.get(leaveKey) !== undefined) return undefined;
      // Nothing would give back the slot of a call that has ended.
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      const left = new Promise<number>((leave) => values.set(leaveKey, leave));
      // A client that leaves while nothing is read from its connection is noticed only when reading goes on.
      signal.addEventListener("abort", () => leaveBodySlot(values), { once: true });
      const queued = { orgId: memberId, target: orgId, signal: () => signal };
      return new Promise((resolve, reject) => {
        const read = async (): Promise<void> => {
          resolve();
          const late = new Promise<number>((end) => {
            const cancel = after(() => end(0), bodies.maxReadMs);
            void left.then(cancel);
          });
          const ms = coolDownMsOf(await Promise.race([left, late]));
          if (ms >= 1) await new Promise<void>((end) => void after(end, ms));
        };
        const hold = async (): Promise<void> => {
          await reading.run(queued, read);
          await left;
        };
        held.run(queued, hold).catch((error: unknown) => {
          leaveBodySlot(values);
          reject(error);
        });
      });
    },
  };
}

export function holdsBodySlot(values: ContextValues): boolean {
  return values.get(leaveKey) !== undefined;
}

/**
 * Gives back the slot of a call, if it has one: to be called when its body is about to be parsed, or is refused.
 *
 * @param bytes the length of the body; absent if nobody knows how much of it was read.
 */
export function leaveBodySlot(values: ContextValues, bytes = Infinity): void {
  values.get(leaveKey)?.(bytes);
}

/**
 * Returns the cool-down of a slot: for how long no other body is read in it. Otherwise, clients whose bodies are refused could send more
 * as fast as the server reads.
 */
function coolDownMsOf(bytes: number): number {
  return Math.min((bytes / 1_000_000) * bodies.coolDownMsPerMegabyte, bodies.maxCoolDownMs);
}

function runAfter(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
