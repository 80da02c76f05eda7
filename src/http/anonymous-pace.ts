// A request whose caller is not known belongs to no org, whose limits it could keep. A client that repeats one at once gets as many
// answers as the process can write, whether its credential is not valid, its path does not exist or its deadline has passed. So the
// anonymous requests of one address come at a pace once there are many. A request of a known caller waits with them if it comes over a
// new connection, or over one whose last request was anonymous.

interface AnonymousPaceOptions {
  /** The pace of one address; of one /64 for IPv6. */
  readonly perSecond: number;
  /** How many requests come at once after a pause. */
  readonly burst?: number;
  /** @returns milliseconds that never go back. */
  readonly clock?: () => number;
}

/** A request from its start to its end. */
interface PacedRequest {
  /** The time until it may be handled, in milliseconds; 0 for none. */
  readonly waitMs: number;
  /** Must be called once. */
  readonly end: (outcome: "known" | "anonymous" | "not handled") => void;
}

export interface AnonymousPace {
  /**
   * @param connection over which the client alone sends requests; undefined if it may be that of many clients.
   */
  readonly begin: (network: string, connection: object | undefined) => PacedRequest;
  readonly isDue: (network: string) => boolean;
  /** Takes a place if one is due. Returns whether it has. */
  readonly takeDue: (network: string) => boolean;
  /** Takes places for what a request does after its start. Returns the time until the first is due, in milliseconds; 0 for none. */
  readonly take: (network: string, places: number) => number;
}

const defaultBurst = 100;
const sweepMs = 1_000;

export function createAnonymousPace(options: AnonymousPaceOptions): AnonymousPace {
  const { perSecond, burst = defaultBurst, clock = () => performance.now() } = options;
  const intervalMs = 1_000 / perSecond;
  /** How long ago the first request of a burst was due. */
  const burstMs = (burst - 1) * intervalMs;
  /** When the next anonymous request of a network is due. */
  const dueMs = new Map<string, number>();
  /** The connections whose last request was that of a known caller. */
  const known = new WeakSet();
  let sweptMs = clock();

  /** Forgets networks that have had a pause. */
  const sweep = (now: number): void => {
    if (now - sweptMs < sweepMs) return;
    sweptMs = now;
    for (const [network, due] of dueMs) if (due < now - burstMs) dueMs.delete(network);
  };

  /** Takes the next places of a network. Returns the time until the first is due. */
  const take = (network: string, places: number): number => {
    const now = clock();
    sweep(now);
    const due = Math.max(dueMs.get(network) ?? -Infinity, now - burstMs);
    dueMs.set(network, due + places * intervalMs);
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
