// A long body takes memory until it is parsed, and collecting much garbage stops all calls for long. So an org has room for some long
// bodies, of which it reads a few at once, and its callers share both. The others wait in the buffers of their connections, which is
// where their clients wait, too. Any body is read up to a length at once, so nobody takes a place with the head of a request alone.
import { type ContextValues, type HandlerContext, createContextKey } from "@connectrpc/connect";
import type { Caller } from "../../identity/caller.ts";
import { type FairQueueOptions, createFairQueue } from "../../standard-methods/fair-queue.ts";

interface BodyPlacesOptions {
  /** How many bodies of one org are read at once; half of them are of one caller. */
  readonly perOrg?: number;
  /** Runs a function after some milliseconds, unless the returned function is called. */
  readonly after?: (run: () => void, ms: number) => () => void;
}

type WaitingCall = Pick<HandlerContext, "signal" | "values">;

export interface BodyPlaces {
  /**
   * Returns a promise of a place for a long body; undefined if the call has one.
   *
   * It rejects with ServiceError RATE_LIMITED when too many bodies of the caller wait, and when the call ends.
   */
  take(caller: Pick<Caller, "memberId" | "orgId">, call: WaitingCall): Promise<void> | undefined;
}

const defaultPerOrg = 4;
/** Of all orgs. */
const readAtOnce = 64;
/** Bodies that have been read wait for turns, and those that come slowly are in memory, too. */
const heldPerOrg = 32;
const heldAtOnce = 256;
/** So that bodies that come slowly keep others waiting for no longer. */
const maxHoldMs = 250;
/**
 * Reading a megabyte takes some 3 ms of the processor, which no turn counts. So after a body nothing is read in its place for a while:
 * clients whose bodies are refused at once would send them as fast as they are read.
 */
const restMsPerMegabyte = 100;
const maxRestMs = 100;
const maxWaiting = 500;

const leaveKey = createContextKey<((bytes: number) => void) | undefined>(undefined, {
  description: "leaves the place of a long body",
});

export function createBodyPlaces({ perOrg = defaultPerOrg, after = runAfter }: BodyPlacesOptions = {}): BodyPlaces {
  // Callers take turns, so the queues count them instead of orgs; the org is what they share.
  const shared = {
    of: "caller",
    waitsFor: "their bodies to be read",
    maxWaiting,
  } as const satisfies Partial<FairQueueOptions>;
  const half = (count: number): number => Math.max(1, Math.floor(count / 2));
  const room = createFairQueue({ ...shared, capacity: heldAtOnce, perTarget: heldPerOrg, perOrg: half(heldPerOrg) });
  const reading = createFairQueue({ ...shared, capacity: readAtOnce, perTarget: perOrg, perOrg: half(perOrg) });

  return {
    take({ memberId, orgId }, { signal, values }) {
      if (values.get(leaveKey) !== undefined) return undefined;
      // What arrives after the end of a call would hold its place for ever.
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      const left = new Promise<number>((leave) => values.set(leaveKey, leave));
      // Who has disconnected is seen when the body is read on.
      signal.addEventListener("abort", () => leaveBodyPlace(values), { once: true });
      const queued = { orgId: memberId, target: orgId, signal: () => signal };
      return new Promise((resolve, reject) => {
        const read = async (): Promise<void> => {
          resolve();
          const late = new Promise<number>((end) => {
            const cancel = after(() => end(0), maxHoldMs);
            void left.then(cancel);
          });
          const ms = restMsOf(await Promise.race([left, late]));
          if (ms >= 1) await new Promise<void>((end) => void after(end, ms));
        };
        const hold = async (): Promise<void> => {
          await reading.run(queued, read);
          await left;
        };
        room.run(queued, hold).catch((error: unknown) => {
          leaveBodyPlace(values);
          reject(error);
        });
      });
    },
  };
}

export function holdsBodyPlace(values: ContextValues): boolean {
  return values.get(leaveKey) !== undefined;
}

/**
 * To be called when the body of a call has been read and is about to be parsed, or is refused.
 *
 * @param bytes the length of the body; absent if nobody knows how much of it was read.
 */
export function leaveBodyPlace(values: ContextValues, bytes = Infinity): void {
  values.get(leaveKey)?.(bytes);
}

function restMsOf(bytes: number): number {
  return Math.min((bytes / 1_000_000) * restMsPerMegabyte, maxRestMs);
}

function runAfter(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
