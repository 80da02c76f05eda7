// The pace of requests without a known caller. No rate of a member or an org counts them, so without a pace a client could get as many
// refusals as the process can write: that its credential is not valid, that its path does not exist, that its deadline has passed.
// After a burst, the requests of one address are handled at regular intervals. Whether a caller is known shows only while its request
// is handled, so each request counts when it begins and no longer counts once its caller turns out to be known. A request does not wait
// if the last one on its connection had a known caller.
import { anonymous } from "./settings.ts";

interface AnonymousPaceOptions {
  /** Of one address; of one /64 for IPv6. */
  readonly perSecond: number;
  /** How many requests come at once after a pause. */
  readonly burst?: number;
  /** @returns milliseconds that never go back. */
  readonly clock?: () => number;
}

interface PacedRequest {
  /** The time to wait before it is handled, in milliseconds; 0 for none. */
  readonly waitMs: number;
  /** Must be called once, when the caller is known or the request has ended. */
  readonly end: (outcome: "known" | "anonymous" | "not handled") => void;
}

export interface AnonymousPace {
  /**
   * @param network the address of the client; its /64 for IPv6.
   * @param connection stands for the connection of the request; undefined if a proxy may send those of many clients over it.
   */
  readonly begin: (network: string, connection: object | undefined) => PacedRequest;
  readonly isDue: (network: string) => boolean;
  /** Counts a request if it would not wait. Returns whether it has. */
  readonly takeDue: (network: string) => boolean;
  /** Counts further work of a request as a number of requests. Returns the time until the first is due, in milliseconds; 0 for none. */
  readonly take: (network: string, requests: number) => number;
}

const sweepMs = 1_000;

export function createAnonymousPace(options: AnonymousPaceOptions): AnonymousPace {
  const { perSecond, burst = anonymous.burst, clock = () => performance.now() } = options;
  const intervalMs = 1_000 / perSecond;
  /** How long a network must have paused for a whole burst. */
  const burstMs = (burst - 1) * intervalMs;
  /** When the next anonymous request of a network is due. */
  const dueMs = new Map<string, number>();
  /** The connections whose last request was that of a known caller. */
  const known = new WeakSet();
  let sweptMs = clock();

  /** Forgets networks that may have a whole burst again. */
  const sweep = (now: number): void => {
    if (now - sweptMs < sweepMs) return;
    sweptMs = now;
    for (const [network, due] of dueMs) if (due < now - burstMs) dueMs.delete(network);
  };

  const take = (network: string, requests: number): number => {
    const now = clock();
    sweep(now);
    const due = Math.max(dueMs.get(network) ?? -Infinity, now - burstMs);
    dueMs.set(network, due + requests * intervalMs);
    return Math.max(0, due - now);
  };

  const isDue = (network: string): boolean => (dueMs.get(network) ?? -Infinity) <= clock();

  const giveBack = (network: string): void => {
    const due = dueMs.get(network);
    if (due !== undefined) dueMs.set(network, due - intervalMs);
  };

  return {
    take,
    isDue,
    takeDue: (network) => isDue(network) && take(network, 1) === 0,

    begin(network, connection) {
      const isKnown = connection !== undefined && known.has(connection);
      const waitMs = isKnown ? 0 : take(network, 1);
      return {
        waitMs,
        end(outcome) {
          if (outcome === "anonymous" && isKnown) take(network, 1);
          if (outcome !== "anonymous" && !isKnown) giveBack(network);
          if (connection === undefined) return;
          if (outcome === "known") known.add(connection);
          if (outcome === "anonymous") known.delete(connection);
        },
      };
    },
  };
}
