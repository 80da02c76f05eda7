// What was used and is not written yet, by org, and what need not be written again on the same day. Both are bounded: what finds no room is
// not taken, and comes again with the next call that uses it.
import type { DayUse } from "./store.ts";

export interface PendingUses {
  /** Returns false if there is no room for it. */
  readonly add: (orgId: string, use: DayUse) => boolean;
  /** Takes all that is pending, by org. */
  readonly take: () => ReadonlyMap<string, readonly DayUse[]>;
  /** Gives back what could not be written. */
  readonly giveBack: (orgId: string, uses: readonly DayUse[]) => void;
}

export interface UsesBounds {
  /** How many uses wait to be written. */
  readonly pending: number;
  /** How many are remembered. A use that is forgotten is written once more, which changes nothing. */
  readonly known: number;
}

const usualBounds: UsesBounds = { pending: 100_000, known: 200_000 };

export function createPendingUses(bounds: UsesBounds = usualBounds): PendingUses {
  /** The day on which something was used last, by what it is. */
  const known = new Map<string, number>();
  let pending = new Map<string, Map<string, DayUse>>();
  let count = 0;

  const put = (orgId: string, key: string, use: DayUse): void => {
    const ofOrg = pending.get(orgId) ?? new Map<string, DayUse>();
    pending.set(orgId, ofOrg);
    if (!ofOrg.has(key)) count++;
    ofOrg.set(key, use);
  };

  return {
    add(orgId, use) {
      const key = `${use.id} ${use.part}`;
      if ((known.get(key) ?? -1) >= use.day) return true;
      if (count >= bounds.pending) return false;
      put(orgId, key, use);
      if (known.size >= bounds.known) known.clear();
      known.set(key, use.day);
      return true;
    },

    take() {
      const taken = new Map([...pending].map(([orgId, uses]) => [orgId, [...uses.values()]]));
      pending = new Map();
      count = 0;
      return taken;
    },

    giveBack(orgId, uses) {
      for (const use of uses) {
        const key = `${use.id} ${use.part}`;
        const later = pending.get(orgId)?.get(key);
        if (later === undefined || later.day < use.day) put(orgId, key, use);
      }
    },
  };
}
