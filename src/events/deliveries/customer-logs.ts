// The logs of webhooks of customers. Each has a row once it has something to deliver, which begins where the webhook does: one that has thousands
// of orgs costs nothing for those that nothing is written in. A webhook is due, as one of an org is, when something was noted in any of its
// logs after its last turn, and one server at a time delivers all of them: so a receiver gets one request at a time, and one that fails is left
// alone with all of them.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { timeText } from "../../database/clock.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { Schema } from "../../database/schema.ts";
import { type Lease, afterAll, compareLogs, isHeld, noRevision } from "./lease.ts";
import { type Claimed, type LogState, isLogShown, logStateOf } from "./store.ts";

const isActive = sql<SqlBool>`webhooks.parent_customer_id is not null and webhooks.state = 'ACTIVE'`;
const anyActive = sql`(select true from webhooks where ${isActive} order by parent_customer_id limit 1)`;

/** Selects the logs, for `noteLogs`, that anybody has written since a time. Without webhooks of customers, nothing is read. */
export function selectLogsSince(since: Date): RawBuilder<unknown> {
  return sql`
    select customer_id, org_id, max(time) as time from changes
    where ${anyActive} and time > ${since} and ${sql.raw(isInThePast)} group by customer_id, org_id`;
}

/**
 * Selects all logs of customers with webhooks.
 *
 * @param customers whose, as a list in SQL; all by default.
 */
export function selectHeads(
  customers = sql`(select parent_customer_id from webhooks where ${isActive})`,
): RawBuilder<unknown> {
  return sql`
    select customer_id, id as org_id, revision_time as time from orgs where customer_id in ${customers}
    union all select id, id, revision_time from customers where id in ${customers}`;
}

/**
 * Notes for webhooks of customers that logs have gone on: in the rows of the logs, and in that of the webhook, whose time grows each time, so that
 * a turn which has found nothing more does not miss what is noted meanwhile. A receiver that fails is not tried earlier. An org that is purged
 * gets no row again, which would begin where the webhook does. Its lock is not waited for, so that nothing else is held up that waits for the
 * webhook: what is left out by one that only has another name then is noted with that, or with what was written lately.
 *
 * In the log of the customer itself, a webhook begins after the revision that created it, which its row has as its cursor.
 *
 * @param written selects `customer_id`, `org_id` and `time`.
 * @param isWanted the condition of the webhooks; all by default.
 */
export function noteLogs(written: RawBuilder<unknown>, isWanted = sql<SqlBool>`true`): RawBuilder<unknown> {
  return sql`
    with written as materialized (${written}),
    followed as materialized (
      select customer_id, id, start_time, cursor_revision from webhooks
      where ${isActive} and parent_customer_id in (select customer_id from written) and ${isWanted}
      order by id for no key update
    ),
    ahead as materialized (
      select written.customer_id, written.org_id, followed.id, written.time, followed.start_time, known.webhook_id is not null as is_known,
        case when written.org_id = written.customer_id then followed.cursor_revision else ${noRevision} end as start_revision
      from written join followed on followed.customer_id = written.customer_id
      left join webhook_logs as known on known.customer_id = written.customer_id and known.webhook_id = followed.id
        and known.org_id = written.org_id
      where written.time > followed.start_time and (known.noted_time is null or written.time > greatest(known.noted_time, known.cursor_time))
    ),
    living as materialized (
      select id, coalesce(purge_time <= clock_timestamp(), false) as is_purged from orgs
      where (customer_id, id) in (select customer_id, org_id from ahead) for key share skip locked
    ),
    noted as (
      insert into webhook_logs as logs (customer_id, org_id, webhook_id, noted_time, cursor_time, cursor_revision, cursor_position)
      select customer_id, org_id, id, time, start_time, start_revision, ${sql.lit(afterAll)} from ahead
      where org_id = customer_id or exists (select from living where living.id = ahead.org_id and (ahead.is_known or not living.is_purged))
      on conflict (customer_id, webhook_id, org_id) do update set noted_time = excluded.noted_time
        where excluded.noted_time > greatest(logs.noted_time, logs.cursor_time)
      returning logs.customer_id, logs.webhook_id
    )
    update webhooks set noted_time = greatest(webhooks.noted_time, webhooks.cursor_time) + interval '1 microsecond',
      next_attempt_time = case when webhooks.failing_since is null then 'epoch' else webhooks.next_attempt_time end
    from (select distinct customer_id, webhook_id from noted) as changed
    where webhooks.customer_id = changed.customer_id and webhooks.org_id = changed.customer_id and webhooks.id = changed.webhook_id`;
}

/** Compares all logs of a webhook that was resumed with how far it has delivered: what was written meanwhile, nobody has noted. */
export async function compareAllLogs(db: Kysely<Schema>, lease: Lease, webhook: Claimed): Promise<void> {
  const { customer_id: customerId, changed_revision: revision } = webhook;
  await noteLogs(selectHeads(sql`(${customerId})`), isHeld("webhooks", lease)).execute(db);
  // If it was resumed again meanwhile, they are compared again.
  await sql`
    update webhooks set cursor_position = ${sql.lit(afterAll)}
    where ${isHeld("webhooks", lease)} and changed_revision = ${revision} and cursor_position = ${sql.lit(compareLogs)}`.execute(
    db,
  );
}

/** A log of a webhook that has something to deliver. */
export interface NextLog extends LogState {
  readonly log_id: string;
  readonly next_attempt_time: Date;
}

interface FoundNext {
  /** When the last thing was noted for the webhook, as it is read together with the log. */
  readonly noted: string;
  /** The one that waits longest, or the shortest time; undefined if all is delivered, or waits for its org to be active. */
  readonly log: NextLog | undefined;
}

/** Finds the next log of a webhook to deliver. Returns undefined if the lease was lost. */
export async function findNextLog(db: Kysely<Schema>, lease: Lease): Promise<FoundNext | undefined> {
  const { rows } = await selectNextLog(lease).execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { noted, ...log } = row;
  return { noted, log: log.log_id === null ? undefined : log };
}

export function selectNextLog(
  lease: Lease,
): RawBuilder<{ readonly noted: string } & (NextLog | { readonly log_id: null })> {
  return sql`
    select ${timeText(sql`webhooks.noted_time`)} as noted, behind.* from webhooks left join lateral (
      select org_id as log_id, next_attempt_time, ${logStateOf("webhook_logs")} from webhook_logs
      where webhook_logs.customer_id = webhooks.customer_id and webhook_logs.webhook_id = webhooks.id
        and (webhook_logs.noted_time > webhook_logs.cursor_time or webhook_logs.cursor_position <> ${sql.lit(afterAll)}) and ${isLogShown}
      order by next_attempt_time limit 1
    ) as behind on true
    where ${isHeld("webhooks", lease)}`;
}

/**
 * Lets a webhook wait for a log whose request is refused, when no other has anything to deliver. The receiver accepts others, so what is noted
 * meanwhile, or from now on, does not wait.
 */
export async function waitForLog(db: Kysely<Schema>, lease: Lease, noted: string, until: Date): Promise<void> {
  await sql`
    update webhooks set next_attempt_time = ${until}, failing_since = null
    where ${isHeld("webhooks", lease)} and noted_time = ${noted}::timestamptz`.execute(db);
}

/** Ends what was noted of a webhook until nothing was found any more. */
export async function endNoted(db: Kysely<Schema>, lease: Lease, noted: string): Promise<void> {
  await sql`update webhooks set cursor_time = ${noted}::timestamptz where ${isHeld("webhooks", lease)}`.execute(db);
}
