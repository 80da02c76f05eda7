import { slices } from "./settings.ts";

/** Which orgs wait after a long slice, and whether several orgs share the process. */
export interface CoolDown {
  readonly has: (orgId: string) => boolean;
  readonly haveAll: (orgIds: Iterable<string>) => boolean;
  /** Reports whether calls of two orgs have come lately. */
  readonly isShared: () => boolean;
  /** Notes a call of an org. */
  readonly see: (orgId: string) => void;
  /** Begins the cool-down of an org after a slice of so many milliseconds. */
  readonly start: (orgId: string, ms: number) => void;
}

/**
 * A slice may take long, since a decision or the parsing of a message is not interrupted. A call of another org needs several turns of
 * the event loop, and would wait for such a slice in each of them. So after a slice that was used up, no call of its org begins for as
 * long as the slice took, unless the org has the process to itself.
 *
 * @param onEnd called when a cool-down ends.
 */
export function createCoolDown(
  clock: () => number,
  after: (run: () => void, ms: number) => unknown,
  onEnd: () => void,
): CoolDown {
  const cooling = new Set<string>();
  let last = "";
  /** When a call came that was not of the same org as the one before. */
  let otherMs = Number.NEGATIVE_INFINITY;
  const isShared = (): boolean => clock() - otherMs < slices.sharedMs;

  return {
    has: (orgId) => cooling.has(orgId),
    haveAll(orgIds) {
      if (cooling.size === 0) return false;
      for (const orgId of orgIds) if (!cooling.has(orgId)) return false;
      return true;
    },
    isShared,
    see(orgId) {
      if (orgId === last) return;
      if (last !== "") otherMs = clock();
      last = orgId;
    },
    start(orgId, ms) {
      if (!isShared() || cooling.has(orgId)) return;
      cooling.add(orgId);
      const end = (): void => {
        cooling.delete(orgId);
        onEnd();
      };
      after(end, Math.min(ms, slices.maxCoolDownMs));
    },
  };
}
