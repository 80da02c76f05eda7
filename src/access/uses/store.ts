import { type Kysely, type RawBuilder, sql } from "kysely";
import { readClock, secondsAfter } from "../../database/clock.ts";
import type { Schema } from "../../database/schema.ts";

/** How long the last day of use is kept, in days: longer than the most that a finding can be about. */
export const keptUseDays = 430;

/** That something was used on a day. */
export interface DayUse {
  /** A role binding, a member, a role of an org, a client, or the member or group that is in a group. The org itself, if uses in it were lost. */
  readonly id: string;
  /** The permission of the role, or the id of the group that it is in; empty for what is used as a whole. */
  readonly part: string;
  /** The number of the day, in UTC, since 1970-01-01. */
  readonly day: number;
}

/**
 * Writes on which day something in an org was used last. Nothing moves back, and servers that write the same wait for each other in one order.
 *
 * @returns how many rows are new.
 */
export async function writeUses(db: Kysely<Schema>, orgId: string, uses: readonly DayUse[]): Promise<number> {
  // A row that was there has been locked by this transaction.
  const { rows } = await sql<{ is_new: boolean }>`
    insert into access_uses (customer_id, org_id, used_id, part, last_day)
    select orgs.customer_id, orgs.id, used.id, used.part, to_timestamp(used.day * 86400::float8)
    from orgs cross join ${listed(uses)}
    where orgs.id = ${orgId}
    order by used.id, used.part
    on conflict (org_id, used_id, part, customer_id) do update set last_day = excluded.last_day
      where access_uses.last_day < excluded.last_day
    returning xmax = 0 as is_new`.execute(db);
  return rows.filter(({ is_new: isNew }) => isNew).length;
}

/** Does the same for what has a row already, and for the org itself. @returns how many of the uses that are. */
export async function writeKnownUses(db: Kysely<Schema>, orgId: string, uses: readonly DayUse[]): Promise<number> {
  const { rows } = await sql<{ id: string; part: string }>`
    select used.id, used.part from orgs cross join ${listed(uses)}
    join access_uses on access_uses.org_id = orgs.id and access_uses.used_id = used.id and access_uses.part = used.part
      and access_uses.customer_id = orgs.customer_id
    where orgs.id = ${orgId}`.execute(db);
  const known = new Set(rows.map(({ id, part }) => `${id} ${part}`));
  const written = uses.filter(({ id, part }) => id === orgId || known.has(`${id} ${part}`));
  if (written.length > 0) await writeUses(db, orgId, written);
  return written.length;
}

function listed(uses: readonly DayUse[]): RawBuilder<unknown> {
  const [ids, parts, days] = [uses.map(({ id }) => id), uses.map(({ part }) => part), uses.map(({ day }) => day)];
  return sql`unnest(${ids}::uuid[], ${parts}::text[], ${days}::integer[]) as used (id, part, day)`;
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
