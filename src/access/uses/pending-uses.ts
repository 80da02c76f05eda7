// What was used and is not written yet, and what need not be written again on the same day, by org. Both are bounded, in all and for each org: if
// there is no room for all, the org that has most pending loses it. Of an org that loses uses it is noted on
// which day it did, for which there is always room, so that nobody takes what it lost for unused.
import type { DayUse } from "./store.ts";

export interface PendingUses {
  /** Returns false if there was no room for it. */
  readonly add: (orgId: string, use: DayUse) => boolean;
  /** Notes that uses in an org were lost on a day. */
  readonly lose: (orgId: string, day: number, count: number) => void;
  /** Takes all that is pending, by org. */
  readonly take: () => ReadonlyMap<string, readonly DayUse[]>;
  /** Gives back what could not be written. What has no room beside what was added meanwhile is lost. */
  readonly giveBack: (orgId: string, uses: readonly DayUse[]) => void;
  /** How many uses were lost. */
  readonly lost: () => number;
}

export interface UsesBounds {
  /** How many uses wait to be written. */
  readonly pending: number;
  /** How many of them are of one org. */
  readonly pendingOfOrg: number;
  /** How many are remembered. A use that is forgotten is written once more, which changes nothing. */
  readonly known: number;
}

const usualBounds: UsesBounds = { pending: 100_000, pendingOfOrg: 5_000, known: 200_000 };

/** That uses in an org were lost: as if the org itself was used. */
const lostUse = (orgId: string, day: number): DayUse => ({ id: orgId, part: "", day });

const keyOf = ({ id, part }: DayUse): string => `${id} ${part}`;

type UsesOfOrg = Map<string, DayUse>;

/**
 * @param onHalfFull called when an org has half of the uses pending that it may have, or all have half of theirs.
 */
export function createPendingUses(bounds: UsesBounds = usualBounds, onHalfFull = (): void => {}): PendingUses {
  const known = createKnownUses(bounds.known);
  let pending = new Map<string, UsesOfOrg>();
  const { lose, ...losses } = createLosses();
  let count = 0;

  const put = (orgId: string, ofOrg: UsesOfOrg, use: DayUse): void => {
    const key = keyOf(use);
    if (!ofOrg.has(key)) count++;
    ofOrg.set(key, use);
    pending.set(orgId, ofOrg);
  };

  const isFull = (ofOrg: UsesOfOrg): boolean => ofOrg.size >= bounds.pendingOfOrg || count >= bounds.pending;

  /** Drops what the org has pending that has most, unless that is as little as this one has. */
  const makeRoom = (than: number): void => {
    const most = orgWithMost(pending, than);
    const dropped = most === undefined ? undefined : pending.get(most);
    if (most === undefined || dropped === undefined) return;
    pending.delete(most);
    known.forget(most);
    count -= dropped.size;
    lose(most, Math.max(...Array.from(dropped.values(), ({ day }) => day)), dropped.size);
  };

  /** It is noted when it happens again. */
  const drop = (orgId: string, { day }: DayUse): void => {
    known.forget(orgId);
    lose(orgId, day, 1);
  };

  return {
    lose,
    lost: losses.count,

    add(orgId, use) {
      if (known.has(orgId, use)) return true;
      const ofOrg = pending.get(orgId) ?? new Map<string, DayUse>();
      const waiting = ofOrg.get(keyOf(use));
      if (waiting !== undefined && waiting.day >= use.day) return true;
      if (count >= bounds.pending) makeRoom(ofOrg.size + 1);
      if (waiting === undefined && isFull(ofOrg)) {
        lose(orgId, use.day, 1);
        return false;
      }
      put(orgId, ofOrg, use);
      known.add(orgId, use);
      if (ofOrg.size * 2 === bounds.pendingOfOrg || count * 2 === bounds.pending) onHalfFull();
      return true;
    },

    take() {
      const taken = listAll(pending, losses.take());
      pending = new Map();
      count = 0;
      return taken;
    },

    giveBack(orgId, uses) {
      const ofOrg = pending.get(orgId) ?? new Map<string, DayUse>();
      for (const use of uses) {
        const waiting = ofOrg.get(keyOf(use));
        if (use.id === orgId) lose(orgId, use.day, 0);
        else if (waiting === undefined && isFull(ofOrg)) drop(orgId, use);
        else if ((waiting?.day ?? -1) < use.day) put(orgId, ofOrg, use);
      }
    },
  };
}

/** Notes how many uses were lost, and on which days in which orgs as far as that is not taken to be written. */
function createLosses() {
  let losing = new Map<string, number>();
  let count = 0;
  return {
    count: (): number => count,

    lose: (orgId: string, day: number, some: number): void => {
      losing.set(orgId, Math.max(day, losing.get(orgId) ?? 0));
      count += some;
    },

    take(): ReadonlyMap<string, number> {
      const taken = losing;
      losing = new Map();
      return taken;
    },
  };
}

function listAll(pending: ReadonlyMap<string, UsesOfOrg>, losing: ReadonlyMap<string, number>) {
  const all = new Map<string, DayUse[]>();
  for (const [orgId, uses] of pending) all.set(orgId, [...uses.values()]);
  for (const [orgId, day] of losing) all.set(orgId, [lostUse(orgId, day), ...(all.get(orgId) ?? [])]);
  return all;
}

/** Returns the org with most pending uses, if these are more than so many. */
function orgWithMost(pending: ReadonlyMap<string, UsesOfOrg>, than: number): string | undefined {
  let most: string | undefined;
  let size = than;
  for (const [orgId, ofOrg] of pending) {
    if (ofOrg.size > size) [most, size] = [orgId, ofOrg.size];
  }
  return most;
}

/** Remembers the last days of uses by org. If there are too many, all of the org are forgotten that was longest not added to. */
function createKnownUses(bound: number) {
  /** The org that was added to last is the last one. */
  const known = new Map<string, Map<string, number>>();
  let count = 0;

  const forget = (orgId: string): void => {
    count -= known.get(orgId)?.size ?? 0;
    known.delete(orgId);
  };

  return {
    forget,
    has: (orgId: string, use: DayUse): boolean => (known.get(orgId)?.get(keyOf(use)) ?? -1) >= use.day,

    add(orgId: string, use: DayUse): void {
      const key = keyOf(use);
      if (count >= bound && known.get(orgId)?.has(key) !== true) {
        const [oldest] = known.keys();
        if (oldest !== undefined) forget(oldest);
      }
      const ofOrg = known.get(orgId) ?? new Map<string, number>();
      if (!ofOrg.has(key)) count++;
      ofOrg.set(key, use.day);
      known.delete(orgId);
      known.set(orgId, ofOrg);
    },
  };
}
