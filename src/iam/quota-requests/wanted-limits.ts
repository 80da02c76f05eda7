import type { LevelRow } from "../../quotas/levels.ts";
import type { NewLimit } from "../quotas/may-raise.ts";
import { limitsOf } from "../quotas/message.ts";

export type WantedLimits = Readonly<Record<string, number>>;

/** A limit that is wanted. It is undefined `before` if the quota has none. */
export type WantedLimit = NewLimit & { readonly after: string };

/** Returns each limit that is wanted with the present one, in the order of the kinds. */
export function wantedLimits(level: LevelRow, wanted: WantedLimits): WantedLimit[] {
  // A kind can be called like a property that every object has: "constructor".
  const present = new Map(Object.entries(limitsOf(level)));
  return Object.entries(wanted)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([kind, limit]) => ({ kind, before: present.get(kind), after: String(limit) }));
}
