import { slices } from "./settings.ts";

/**
 * Creates the cool-downs of orgs. A slice may take longer than planned, because neither a decision nor the parsing of a message is
 * interrupted. A call of another org needs several turns of the event loop, and could meet such a slice in each of them. So after a slice
 * that was used up, no call of its org begins for as long as the slice took, unless the org has the process to itself.
 *
 * @param onEnd called when a cool-down ends.
 */
export function createCoolDown(
  clock: () => number,
  after: (run: () => void, ms: number) => unknown,
  onEnd: () => void,
) {
  const cooling = new Set<string>();
  let last = "";
  /** When a call came that was not of the same org as the one before. */
  let otherMs = Number.NEGATIVE_INFINITY;
  const isShared = (): boolean => clock() - otherMs < slices.sharedMs;

  return {
    isShared,
    has: (orgId: string): boolean => cooling.has(orgId),
    haveAll: (orgIds: Iterable<string>): boolean =>
      cooling.size > 0 && [...orgIds].every((orgId) => cooling.has(orgId)),
    see(orgId: string): void {
      if (orgId === last) return;
      if (last !== "") otherMs = clock();
      last = orgId;
    },
    /** Begins the cool-down of an org after a slice of so many milliseconds. */
    start(orgId: string, ms: number): void {
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
