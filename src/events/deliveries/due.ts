// Which webhooks have something to deliver. Each has a time up to which its log is known to have entries (`noted_time`), which the server notes
// that has written them, after the commit. What it could not note, because it was killed, others find in what was written lately. So what is
// due is read from an index that has only that, however many webhooks there are.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { clockMs } from "../../database/clock.ts";
import type { Committed } from "../../database/commits.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { Schema } from "../../database/schema.ts";
import { type DuePlace, type Lease, afterAll, isAt } from "./lease.ts";
import { isActiveOrg } from "./store.ts";

/** At most so many webhooks of an org are found at once. */
export const perOrg = 4;

/** So many webhooks are looked at for those that can be delivered of. */
const lookedAt = 1_000;

/** The condition of the index `webhooks_due`. */
const isBehind = sql<SqlBool>`webhooks.state = 'ACTIVE'
  and (webhooks.noted_time > webhooks.cursor_time or webhooks.cursor_position <> ${sql.lit(afterAll)})`;

interface FoundDue {
  /** Whether any webhook is active. */
  readonly isAnyActive: boolean;
  /** The clock of the database, in milliseconds. */
  readonly nowMs: number;
  /** The one that waits longest first. */
  readonly places: readonly DuePlace[];
}

/** Finds webhooks that have something to deliver, now or later. @param fullOrgIds those whose webhooks are left out. */
export async function findDue(
  db: Kysely<Schema>,
  limit: number,
  fullOrgIds: readonly string[] = [],
): Promise<FoundDue> {
  const { rows } = await selectDue(limit, fullOrgIds).execute(db);
  const places = rows.filter((row): row is FoundRow & DuePlace => row.id !== null);
  return { isAnyActive: rows[0]?.is_any ?? false, nowMs: rows[0]?.nowMs ?? 0, places };
}

type FoundRow = { readonly is_any: boolean; readonly nowMs: number } & (DuePlace | { readonly id: null });

export function selectDue(limit: number, fullOrgIds: readonly string[]): RawBuilder<FoundRow> {
  // In the order of an index, so that no scan passes over those that are not active.
  const firstActive = sql`select true from webhooks where state = 'ACTIVE' order by org_id, id limit 1`;
  return sql<FoundRow>`
    select coalesce((${firstActive}), false) as is_any, due.customer_id, due.org_id, due.id, ${clockMs} as "nowMs",
      (extract(epoch from due.due_time) * 1000)::float8 as "dueMs"
    from (select) as one left join (
      select * from (
        select *, row_number() over (partition by org_id order by due_time) as place from (
          select customer_id, org_id, id, greatest(next_attempt_time, lease_end) as due_time
          from webhooks where ${isBehind} and org_id <> all(${fullOrgIds}::uuid[])
          order by greatest(next_attempt_time, lease_end) limit ${sql.lit(lookedAt)}
        ) as behind
      ) as numbered where place <= ${sql.lit(perOrg)}
      order by due_time limit ${limit}
    ) as due on true
    order by due.due_time`;
}

/** What a server has written in an org with webhooks. */
export interface WrittenLog {
  /** That of the last entry. */
  readonly time: string;
  /** Whether the org itself was changed: it may be active again. */
  readonly isOrgChanged: boolean;
}

/** Returns what follows a commit for the webhooks of its org; undefined if it has none. */
export function writtenLogOf({ entries, has_webhooks: hasWebhooks }: Committed): WrittenLog | undefined {
  const last = entries.at(-1);
  const isChanged = (type: string): boolean => entries.some(({ resource_type }) => resource_type === type);
  if (last === undefined || !(hasWebhooks || isChanged("Webhook"))) return undefined;
  return { time: toText(last.time), isOrgChanged: isChanged("Org") };
}

const toText = (time: string | Date): string => (typeof time === "string" ? time : time.toISOString());

/** Notes for the webhooks of orgs, by ids, that their logs have gone on. */
export async function noteWritten(db: Kysely<Schema>, written: ReadonlyMap<string, WrittenLog>): Promise<void> {
  const logs = [...written.values()];
  await note(sql`
    select * from unnest(
      ${[...written.keys()]}::uuid[], ${logs.map(({ time }) => time)}::timestamptz[], ${logs.map((each) => each.isOrgChanged)}::boolean[]
    ) as written (org_id, time, is_org_changed)`).execute(db);
}

/** Notes the same for what anybody has written since a time. It must be from before the longest transaction began that may be under way. */
export async function noteWrittenSince(db: Kysely<Schema>, since: Date): Promise<void> {
  await noteSince(since).execute(db);
}

export const noteSince = (since: Date): RawBuilder<unknown> =>
  note(sql`
    select org_id, max(time) as time, bool_or(resource_type = 'Org') as is_org_changed from changes
    where time > ${since} and ${sql.raw(isInThePast)} group by org_id`);

/** Notes the same for what was ever written. */
export async function noteHeads(db: Kysely<Schema>): Promise<void> {
  await note(sql`select id as org_id, revision_time as time, false as is_org_changed from orgs`).execute(db);
}

/** @param written selects `org_id`, `time` and `is_org_changed`. */
function note(written: RawBuilder<unknown>): RawBuilder<unknown> {
  // Locked in an order, since another server may note some of them, too. One that is waited for is read again when it is updated.
  // A change of the org counts also when something later was noted first, by another server: that has not ended the wait.
  return sql`
    with behind as materialized (
      select webhooks.org_id, webhooks.id, written.time, written.is_org_changed
      from (${written}) as written join webhooks on webhooks.org_id = written.org_id and webhooks.state = 'ACTIVE'
      where written.time > greatest(webhooks.noted_time, webhooks.cursor_time) or written.is_org_changed
      order by webhooks.id for no key update of webhooks
    )
    update webhooks set noted_time = greatest(webhooks.noted_time, behind.time),
      next_attempt_time = case when behind.is_org_changed then 'epoch' else webhooks.next_attempt_time end
    from behind where webhooks.org_id = behind.org_id and webhooks.id = behind.id`;
}

/** Leaves a webhook out for some minutes whose org is not active. A change of the org ends that. */
export async function postponeInactive(db: Kysely<Schema>, { place }: Lease, now: Date): Promise<void> {
  const until = new Date(now.getTime() + inactiveMs);
  await sql`
    update webhooks set next_attempt_time = ${until}
    where ${isAt("webhooks", place)} and next_attempt_time <= ${now} and lease_end <= ${now}
      and not exists (select from orgs where orgs.id = ${place.org_id} and ${isActiveOrg})`.execute(db);
}

const inactiveMs = 600_000;
