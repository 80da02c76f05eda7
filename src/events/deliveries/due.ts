// Which webhooks and event streams have something to deliver. Each has a time up to which its log is known to have entries (`noted_time`), which the server notes
// that has written them, after the commit. What it could not note, because it was killed, others find in what was written lately. So what is
// due is read from an index that has only that, however many there are.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { clockMs } from "../../database/clock.ts";
import type { Committed } from "../../database/commits.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { Schema } from "../../database/schema.ts";
import { noteLogs, selectHeads, selectLogsSince } from "./customer-logs.ts";
import type { Followers } from "./followers.ts";
import { type DuePlace, type Lease, type Position, afterAll, isAt } from "./lease.ts";
import { isOfCustomer, isParentActive } from "./store.ts";

/** At most so many of an org are found at once. */
export const perOrg = 4;

/** So many are looked at for those that can be delivered of. */
const lookedAt = 1_000;

interface FoundDue {
  /** Whether any is active. */
  readonly isAnyActive: boolean;
  /** The clock of the database, in milliseconds. */
  readonly nowMs: number;
  /** The one that waits longest first. */
  readonly places: readonly DuePlace[];
}

/** Finds those that have something to deliver, now or later. @param fullOrgIds orgs of which they are left out. */
export async function findDue(
  db: Kysely<Schema>,
  followers: Followers,
  limit: number,
  fullOrgIds: readonly string[] = [],
): Promise<FoundDue> {
  const { rows } = await selectDue(followers, limit, fullOrgIds).execute(db);
  const places = rows.filter((row): row is FoundRow & DuePlace => row.id !== null);
  return { isAnyActive: rows[0]?.is_any ?? false, nowMs: rows[0]?.nowMs ?? 0, places };
}

type FoundRow = { readonly is_any: boolean; readonly nowMs: number } & (DuePlace | { readonly id: null });

export function selectDue(
  { table, isActive, isBehind }: Followers,
  limit: number,
  fullOrgIds: readonly string[],
): RawBuilder<FoundRow> {
  const followers = sql.table(table);
  // In the order of an index, so that no scan passes over those that are not active.
  const firstActive = sql`select true from ${followers} where ${isActive} order by org_id limit 1`;
  return sql<FoundRow>`
    select coalesce((${firstActive}), false) as is_any, due.customer_id, due.org_id, due.id, ${clockMs} as "nowMs",
      (extract(epoch from due.due_time) * 1000)::float8 as "dueMs"
    from (select) as one left join (
      select * from (
        select *, row_number() over (partition by org_id order by due_time) as place from (
          select customer_id, org_id, id, greatest(next_attempt_time, lease_end) as due_time
          from ${followers} where ${isBehind} and org_id <> all(${fullOrgIds}::uuid[])
          order by greatest(next_attempt_time, lease_end) limit ${sql.lit(lookedAt)}
        ) as behind
      ) as numbered where place <= ${sql.lit(perOrg)}
      order by due_time limit ${limit}
    ) as due on true
    order by due.due_time`;
}

/** What a server has written in an org that is followed. */
export interface WrittenLog {
  readonly customerId: string;
  /** That of the last entry. */
  readonly time: string;
  /** Whether the org or the customer itself was changed: it may be active again. */
  readonly isOrgChanged: boolean;
}

/** Returns what follows a commit for those that follow its org; undefined if there are none. */
export function writtenLogOf({ noticed, resourceType }: Followers, committed: Committed): WrittenLog | undefined {
  const { entries } = committed;
  const last = entries.at(-1);
  const isChanged = (type: string): boolean => entries.some(({ resource_type }) => resource_type === type);
  if (last === undefined || !(committed[noticed] || isChanged(resourceType))) return undefined;
  return {
    customerId: last.customer_id,
    time: toText(last.time),
    isOrgChanged: isChanged(isOfCustomer(last) ? "Customer" : "Org"),
  };
}

const toText = (time: string | Date): string => (typeof time === "string" ? time : time.toISOString());

/** Notes for those that follow orgs, by their ids, that the logs have gone on. */
export async function noteWritten(
  db: Kysely<Schema>,
  followers: Followers,
  written: ReadonlyMap<string, WrittenLog>,
): Promise<void> {
  const logs = [...written.values()];
  const selected = sql`
    select * from unnest(
      ${logs.map(({ customerId }) => customerId)}::uuid[], ${[...written.keys()]}::uuid[],
      ${logs.map(({ time }) => time)}::timestamptz[], ${logs.map((each) => each.isOrgChanged)}::boolean[]
    ) as written (customer_id, org_id, time, is_org_changed)`;
  await note(followers, selected).execute(db);
  if (followers.hasCustomers) await noteLogs(selected).execute(db);
}

/** Notes the same for what anybody has written since a time. It must be from before the longest transaction began that may be under way. */
export async function noteWrittenSince(db: Kysely<Schema>, followers: Followers, since: Date): Promise<void> {
  await noteSince(followers, since).execute(db);
  if (followers.hasCustomers) await noteLogs(selectLogsSince(since)).execute(db);
}

export function noteSince(followers: Followers, since: Date): RawBuilder<unknown> {
  const selected = sql`
    select org_id, max(time) as time, bool_or(resource_type = case when org_id = customer_id then 'Customer' else 'Org' end) as is_org_changed from changes
    where time > ${since} and ${sql.raw(isInThePast)} group by org_id`;
  return note(followers, selected);
}

/** Notes the same for what was ever written. */
export async function noteHeads(db: Kysely<Schema>, followers: Followers): Promise<void> {
  await note(followers, sql`select id as org_id, revision_time as time, false as is_org_changed from orgs`).execute(db);
  if (followers.hasCustomers) await noteLogs(selectHeads()).execute(db);
}

/** @param written selects `org_id`, `time` and `is_org_changed`. */
function note({ table, isActive }: Followers, written: RawBuilder<unknown>): RawBuilder<unknown> {
  const followers = sql.table(table);
  // Locked in an order, since another server may note some of them, too. One that is waited for is read again when it is updated.
  // A change of the org counts also when something later was noted first, by another server: that has not ended the wait.
  return sql`
    with behind as materialized (
      select ${followers}.org_id, ${followers}.id, written.time, written.is_org_changed
      from (${written}) as written join ${followers} on ${followers}.org_id = written.org_id and ${isActive}
      where written.time > greatest(${followers}.noted_time, ${followers}.cursor_time) or written.is_org_changed
      order by ${followers}.id for no key update of ${followers}
    )
    update ${followers} set noted_time = greatest(${followers}.noted_time, behind.time),
      next_attempt_time = case when behind.is_org_changed then 'epoch' else ${followers}.next_attempt_time end
    from behind where ${followers}.org_id = behind.org_id and ${followers}.id = behind.id`;
}

/** Returns where a cursor is set that finds nothing: with the time that was noted, since what was noted and is not there was dropped. */
export const endOfLog = ({ time, revision }: Position, notedTime: string): Position => ({
  time: time > notedTime ? time : notedTime,
  revision,
  position: afterAll,
});

/** Leaves a webhook out for some minutes whose org or customer is not active. A change of that ends the wait. */
export async function postponeInactive(db: Kysely<Schema>, { place }: Lease, now: Date): Promise<void> {
  await sql`
    update webhooks set next_attempt_time = ${afterInactive(now)}
    where ${isAt("webhooks", place)} and next_attempt_time <= ${now} and lease_end <= ${now}
      and not ${isParentActive(place)}`.execute(db);
}

/** Returns when something is looked at again whose org is not active. */
export const afterInactive = (now: Date): Date => new Date(now.getTime() + 600_000);
