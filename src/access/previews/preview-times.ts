import type { LogEntry } from "../engine/loading/apply-entry.ts";
import { type MembershipRow, type RoleBindingRow, type Time, readTime } from "../engine/loading/rows.ts";

/** The maximum number of times to evaluate. Few changes name as many, and each takes as long as the first. */
const maxTimes = 8;

interface Times {
  /** In milliseconds, ascending. */
  readonly times: readonly [number, ...number[]];
  /** Whether these are all times at which the changes may make a difference. */
  readonly isWhole: boolean;
}

/**
 * Returns the times at which the changes may make a difference: now, and when a binding or membership among them starts or
 * expires. A role binding that is postponed makes a difference now, and one that starts later makes a difference then.
 */
export function timesOf(changes: readonly LogEntry[], now: number): Times {
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
