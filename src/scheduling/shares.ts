/** Counts the time that the calls of each org take, so that the org that has had the least comes next. */
export function createShares(clock: () => number) {
  const taken = new Map<string, number>();
  /** What the org had taken whose call began last. An org that begins to wait counts as having taken as much, so idle time is not saved. */
  let base = 0;
  let running: { readonly orgId: string; readonly sinceMs: number } | undefined;
  const takenBy = (orgId: string): number => taken.get(orgId) ?? 0;

  return {
    /** Begins to count an org whose calls wait. */
    join: (orgId: string): void => void taken.set(orgId, Math.max(takenBy(orgId), base)),
    start(orgId: string): void {
      base = Math.max(base, takenBy(orgId));
      running = { orgId, sinceMs: clock() };
    },
    /** Ends the call that began last. Returns its org and how long it ran; an empty `orgId` if none has begun. */
    stop(): { readonly orgId: string; readonly ms: number } {
      if (running === undefined) return { orgId: "", ms: 0 };
      const { orgId, sinceMs } = running;
      const ms = clock() - sinceMs;
      taken.set(orgId, Math.max(takenBy(orgId), base) + ms);
      running = undefined;
      return { orgId, ms };
    },
    /** Returns the org that has taken the least, the first of several; an empty text if all are left out. */
    least(orgIds: Iterable<string>, isLeftOut: (orgId: string) => boolean): string {
      let [found, least] = ["", Number.POSITIVE_INFINITY];
      for (const orgId of orgIds) {
        if (takenBy(orgId) < least && !isLeftOut(orgId)) [found, least] = [orgId, takenBy(orgId)];
      }
      return found;
    },
    clear(): void {
      taken.clear();
      base = 0;
    },
  };
}
