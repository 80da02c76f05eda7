import { type Kysely, sql } from "kysely";
import { readClock, secondsAfter } from "../../database/clock.ts";
import type { Schema } from "../../database/schema.ts";

/** How long the last day of use is kept, in days: longer than the most that a finding can be about. */
export const keptUseDays = 430;

/** That something was used on a day. */
export interface DayUse {
  /** A role binding, a role of an org, a client, or the member or group that is in a group. */
  readonly id: string;
  /** The permission of the role, or the id of the group that it is in; empty for a role binding and a client. */
  readonly part: string;
  /** The number of the day, in UTC, since 1970-01-01. */
  readonly day: number;
}

/** Writes on which day something in an org was used last. Nothing moves back, and servers that write the same wait for each other in one order. */
export async function writeUses(db: Kysely<Schema>, orgId: string, uses: readonly DayUse[]): Promise<void> {
  const [ids, parts, days] = [uses.map(({ id }) => id), uses.map(({ part }) => part), uses.map(({ day }) => day)];
  await sql`
    insert into access_uses (customer_id, org_id, used_id, part, last_day)
    select orgs.customer_id, orgs.id, used.id, used.part, to_timestamp(used.day * 86400::float8)
    from orgs cross join unnest(${ids}::uuid[], ${parts}::text[], ${days}::integer[]) as used (id, part, day)
    where orgs.id = ${orgId}
    order by used.id, used.part
    on conflict (org_id, used_id, part, customer_id) do update set last_day = excluded.last_day
      where access_uses.last_day < excluded.last_day`.execute(db);
}

/**
 * Notes that a server records uses. If none has for a day, such as while an earlier version served, what was used meanwhile is not known,
 * and it is as if nothing had been recorded before.
 */
export async function noteRecording(db: Kysely<Schema>): Promise<void> {
  const now = await readClock(db);
  const dayBefore = secondsAfter(now, -86_400);
  await sql`
    insert into use_recording (since_time, noted_time) values (${now}, ${now})
    on conflict (singleton) do update set noted_time = excluded.noted_time,
      since_time = case when use_recording.noted_time < ${dayBefore} then excluded.since_time else use_recording.since_time end
      where use_recording.noted_time < excluded.noted_time`.execute(db);
}
