// A long body takes memory until it is parsed, and collecting much garbage stops all calls for long. So only some long bodies of an
// org are read at once. The others wait in the buffers of their connections, which is where their clients wait, too.
import { type ContextValues, type HandlerContext, createContextKey } from "@connectrpc/connect";
import { createFairQueue } from "../../standard-methods/fair-queue.ts";

interface BodyPlacesOptions {
  /** How many bodies of one org are read at once. */
  readonly perOrg?: number;
  /** Runs a function after some milliseconds. */
  readonly after?: (run: () => void, ms: number) => unknown;
}

export interface BodyPlaces {
  /**
   * Returns a promise of a place for the body of a call; undefined if the client announces no long one.
   *
   * It rejects with ServiceError RATE_LIMITED when too many bodies of the org wait, and when the call ends.
   */
  take(orgId: string, call: Pick<HandlerContext, "signal" | "values">): Promise<void> | undefined;
}

/** Only batches, of some hundred items, are longer. */
const maxFreeBytes = 65_536;
const defaultPerOrg = 4;
/** Of all orgs. */
const capacity = 64;
/** So that bodies that come slowly keep others waiting for no longer. */
const maxHoldMs = 250;

/** The context key of the length of the body in bytes, as the client announces it; 0 if it does not. */
export const announcedBytesKey = createContextKey(0, { description: "announced length of the body" });

const leaveKey = createContextKey<() => void>(() => {}, { description: "leaves the place of a long body" });

export function createBodyPlaces({ perOrg = defaultPerOrg, after = setTimeout }: BodyPlacesOptions = {}): BodyPlaces {
  const queue = createFairQueue({ capacity, perTarget: perOrg, waitsFor: "their bodies to be read" });

  return {
    take(orgId, { signal, values }) {
      if (values.get(announcedBytesKey) <= maxFreeBytes) return undefined;
      return new Promise((resolve, reject) => {
        const hold = (): Promise<void> => {
          resolve();
          return new Promise((leave) => {
            values.set(leaveKey, leave);
            after(leave, maxHoldMs);
          });
        };
        queue.run({ orgId, target: orgId, signal: () => signal }, hold).catch(reject);
      });
    },
  };
}

/** To be called when the body of a call has been read and is about to be parsed. */
export function leaveBodyPlace(values: ContextValues): void {
  values.get(leaveKey)();
}
