import type { SnapshotChange } from "../engine/apply-change.ts";
import { type MembershipRow, type RoleBindingRow, type Time, readTime } from "../engine/rows.ts";

/** At more there is no look: few changes name as many, and each look takes as long as the first. */
const maxTimes = 8;

interface Times {
  /** In milliseconds, ascending. */
  readonly times: readonly [number, ...number[]];
  /** Whether these are all that there are. */
  readonly isWhole: boolean;
}

/**
 * When the changes may make a difference: now, and whenever a binding or membership among them begins or ends. A role binding that
 * is put off makes one now, and one that begins later makes one then.
 */
export function timesOf(changes: readonly SnapshotChange[], now: number): Times {
  const later = new Set<number>();
  for (const { resource_type: type, before, after } of changes) {
    if (type !== "RoleBinding" && type !== "GroupMember") continue;
    for (const row of [before, after] as (Partial<RoleBindingRow & MembershipRow> | null)[]) {
      for (const time of [row?.start_time, row?.expire_time]) {
        const at = readTime(time ?? (null as Time), now);
        if (at > now) later.add(at);
      }
    }
  }
  const times = [...later].toSorted((one, other) => one - other);
  return { times: [now, ...times.slice(0, maxTimes - 1)], isWhole: times.length < maxTimes };
}
