// How far each webhook has delivered, and which server delivers, by a lease (lease.ts). Of a webhook of a customer, that is in a row for each
// log, which is written under the lock of the webhook and its lease. All times are of the clock of the database.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { timeText } from "../../database/clock.ts";
import { type OrgKey, isLogOfCustomer } from "../../database/org-key.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { Schema } from "../../database/schema.ts";
import type { WebhookDeliveries, Webhooks } from "../../database/webhook-tables.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { compared } from "../changes/store.ts";
import { keptDays, keptDeliveries } from "../webhooks/list-deliveries.ts";
import { type Lease, type Place, type Position, isAt, isHeld, nextAttempt, wait } from "./lease.ts";

/** A webhook that is claimed, with how far it has delivered a log. */
export interface Claimed extends Place, LogState {
  /** The log that it delivers: that of its org, or one of those of its customer. */
  readonly log: OrgKey;
  readonly changed_revision: string;
  readonly url: string;
  readonly filter: string;
  readonly format: Webhooks["format"];
  readonly member_org_id: string;
  readonly member_id: string;
  readonly sealed_secret: Buffer;
  readonly sealed_previous_secret: Buffer | null;
  readonly hold_retention: boolean;
  readonly previous_secret_expire_time: Date | null;
}

/** How far a webhook has delivered a log. */
export interface LogState {
  readonly cursor_time: string;
  readonly cursor_revision: string;
  readonly cursor_position: number;
  /** Up to when its log is known to have had entries. */
  readonly noted_time: string;
  readonly pending_time: string | null;
  readonly pending_revision: string | null;
  readonly pending_position: number | null;
  readonly failing_since: Date | null;
}

export const isActiveOrg = sql<SqlBool>`orgs.state = 'ACTIVE' and orgs.delete_time is null`;

/** The condition of the org that a place is in. */
export const isAtOrg = (place: Pick<Place, "customer_id" | "org_id">): RawBuilder<SqlBool> =>
  sql<SqlBool>`orgs.customer_id = ${place.customer_id} and orgs.id = ${place.org_id}`;

/** Whether webhooks are of a customer. */
export const isOfCustomer = ({ customer_id, org_id }: Pick<Place, "customer_id" | "org_id">): boolean =>
  isLogOfCustomer({ customer_id, id: org_id });

/** The condition that there is what webhooks are of, and that it is neither suspended nor deleted. */
export const isParentActive = (place: Place): RawBuilder<SqlBool> =>
  isOfCustomer(place)
    ? sql<SqlBool>`exists (select from customers where id = ${place.customer_id} and delete_time is null)`
    : sql<SqlBool>`exists (select from orgs where ${isAtOrg(place)} and ${isActiveOrg})`;

const mayDeliver = (place: Place): RawBuilder<SqlBool> =>
  sql<SqlBool>`webhooks.state = 'ACTIVE' and ${isParentActive(place)}`;

const isUnchanged = (revision: string | undefined): RawBuilder<SqlBool> =>
  revision === undefined ? sql`true` : sql`webhooks.changed_revision = ${revision}`;

/** Claims a webhook that is due and that nobody has claimed. Returns undefined if it is not. */
export async function claim(
  db: Kysely<Schema>,
  lease: Lease,
  times: { readonly now: Date; readonly end: Date },
): Promise<Claimed | undefined> {
  const { place, id } = lease;
  const { now, end } = times;
  const { rows } = await sql<Omit<Claimed, "log">>`
    update webhooks set lease_id = ${id}, lease_end = ${end}
    where ${isAt("webhooks", place)} and ${mayDeliver(place)} and lease_end <= ${now} and next_attempt_time <= ${now}
    returning customer_id, org_id, id, changed_revision, url, filter, format, member_org_id, member_id, sealed_secret,
      sealed_previous_secret, hold_retention, previous_secret_expire_time, ${logStateOf("webhooks")}`.execute(db);
  const [webhook] = rows;
  return webhook && { ...webhook, log: { customer_id: webhook.customer_id, id: webhook.org_id } };
}

/** Returns the columns of how far a log was delivered. */
export function logStateOf(table: "webhooks" | "webhook_logs"): RawBuilder<unknown> {
  const column = (name: string): RawBuilder<unknown> => sql.ref(`${table}.${name}`);
  const times = ["cursor_time", "noted_time", "pending_time"].map(
    (name) => sql`${timeText(column(name))} as ${sql.id(name)}`,
  );
  const others = ["cursor_revision", "cursor_position", "pending_revision", "pending_position", "failing_since"].map(
    column,
  );
  return sql.join([...times, ...others]);
}

/**
 * Begins a try: notes its last entry, so that the next try has the same ones, and holds the lease for longer. Returns how often the request
 * has been tried, with this time; undefined if the webhook must not deliver, because it was changed, or has lost its lease or its state.
 */
export async function beginTry(
  db: Kysely<Schema>,
  lease: Lease,
  { changed_revision: revision, log }: Claimed,
  last: Position,
  leaseEnd: Date,
): Promise<number | undefined> {
  const tried = sql`attempts = attempts + 1, pending_time = ${last.time}::timestamptz, pending_revision = ${last.revision},
    pending_position = ${last.position}`;
  const isUnderWay = sql`
    ${isHeld("webhooks", lease)} and ${mayDeliver(lease.place)} and changed_revision = ${revision}`;
  const begun = isOfCustomer(lease.place)
    ? sql<{ attempts: number }>`
      with held as (
        update webhooks set lease_end = ${leaseEnd} where ${isUnderWay} returning customer_id, id
      )
      update webhook_logs set ${tried} from held where ${isLogOfHeld(log)} and ${isLogShown} returning attempts`
    : sql<{ attempts: number }>`
      update webhooks set ${tried}, lease_end = ${leaseEnd} where ${isUnderWay} returning attempts`;
  return (await begun.execute(db)).rows[0]?.attempts;
}

/** The condition of the row of a log, where `held` is its webhook. */
const isLogOfHeld = (log: OrgKey): RawBuilder<SqlBool> =>
  sql<SqlBool>`webhook_logs.customer_id = held.customer_id and webhook_logs.webhook_id = held.id and webhook_logs.org_id = ${log.id}`;

/** The condition of logs that are in the list of changes of a customer: not those of suspended orgs, which are delivered when they are active again. Not with EXISTS, for which all orgs could be read. */
export const isLogShown = sql<SqlBool>`(
  webhook_logs.org_id = webhook_logs.customer_id or (
    select state from orgs where orgs.customer_id = webhook_logs.customer_id and orgs.id = webhook_logs.org_id
  ) = 'ACTIVE')`;

/** What is kept of a request. */
export type RecordedDelivery = Omit<WebhookDeliveries, "customer_id" | "org_id" | "webhook_id">;

/** What becomes of a webhook after a try, or without one. */
export interface Ended {
  /** Where the cursor is set; undefined to leave it, for another try of the same request. */
  readonly cursor?: Position;
  readonly failingSince: Date | null;
  /** Undefined to leave it. */
  readonly nextAttemptTime?: Date;
  readonly delivery?: RecordedDelivery;
  /** The revision in which the webhook was changed last; undefined for what holds for a webhook that has changed since, too. */
  readonly changedRevision?: string;
  /** What a try says of the receiver, for a webhook of a customer: who fails is tried again later, with whatever log. Undefined without a try. */
  readonly receiver?: "accepts" | { readonly failedAt: Date; readonly now: Date };
}

/** Ends a try, and records it. Returns false if it does not hold any more: the webhook has changed, or somebody else has it. */
export async function endTry(db: Kysely<Schema>, lease: Lease, { log }: Claimed, ended: Ended): Promise<boolean> {
  const { cursor, failingSince, nextAttemptTime, delivery, changedRevision } = ended;
  const moved =
    cursor === undefined
      ? sql``
      : sql`cursor_time = ${cursor.time}::timestamptz, cursor_revision = ${cursor.revision},
          cursor_position = ${cursor.position}, pending_time = null, pending_revision = null, pending_position = null,
          attempts = 0,`;
  const changed = sql`${moved} ${nextAttempt(nextAttemptTime)} failing_since = ${failingSince}`;
  const isKept = sql<SqlBool>`${isHeld("webhooks", lease)} and ${isUnchanged(changedRevision)}`;
  const update = isOfCustomer(lease.place)
    ? sql`
      held as (${holdReceiver(ended, isKept)}),
      ended as (
        update webhook_logs set ${changed} from held where ${isLogOfHeld(log)}
        returning webhook_logs.customer_id, webhook_logs.org_id, webhook_logs.webhook_id as id
      )`
    : sql`ended as (update webhooks set ${changed} where ${isKept} returning customer_id, org_id, id)`;
  const statement =
    delivery === undefined ? sql`with ${update} select id from ended` : insertDelivery(update, delivery);
  return (await statement.execute(db)).rows.length > 0;
}

/** Locks a webhook of a customer, and records of its receiver what a try says. Waits grow with the time for which the receiver has accepted nothing. */
function holdReceiver({ receiver }: Ended, isKept: RawBuilder<SqlBool>): RawBuilder<unknown> {
  if (receiver === undefined) return sql`select customer_id, id from webhooks where ${isKept} for no key update`;
  if (receiver === "accepts")
    return sql`update webhooks set failing_since = null where ${isKept} returning customer_id, id`;
  const { failedAt, now } = receiver;
  const since = sql`coalesce(failing_since, ${failedAt}::timestamptz)`;
  const { shortestMs, longestMs } = wait;
  const ms = (value: number): RawBuilder<unknown> => sql`interval '${sql.raw(String(value))} ms'`;
  return sql`
    update webhooks set failing_since = ${since},
      next_attempt_time = ${now}::timestamptz + least(greatest((${now}::timestamptz - ${since}) / 2, ${ms(shortestMs)}), ${ms(longestMs)})
    where ${isKept} returning customer_id, id`;
}

/** @param update the parts of WITH whose last one, `ended`, has the log. */
function insertDelivery(update: RawBuilder<unknown>, delivery: RecordedDelivery): RawBuilder<unknown> {
  const columns = Object.keys(delivery) as (keyof RecordedDelivery)[];
  const names = sql.join(columns.map((column) => sql.ref(column)));
  // A parameter of a select has no type of its own.
  const values = sql.join(columns.map((column) => sql`${delivery[column]}::${sql.raw(typeOf[column])}`));
  const replaced = sql.join(columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`));
  return sql`
    with ${update}
    insert into webhook_deliveries (customer_id, org_id, webhook_id, ${names})
    select ended.customer_id, ended.org_id, ended.id, ${values} from ended
    on conflict (customer_id, org_id, webhook_id, revision, position) do update set ${replaced}
    returning webhook_id`;
}

const typeOf = {
  revision: "uuid",
  position: "integer",
  message_id: "text",
  change_count: "integer",
  state: "text",
  attempts: "integer",
  attempt_time: "timestamptz",
  next_attempt_time: "timestamptz",
  status_code: "integer",
  answer: "text",
  error: "text",
  duration_ms: "integer",
} as const satisfies Record<keyof RecordedDelivery, string>;

/**
 * Removes what is no longer kept of the deliveries of a webhook. Those that were tried last are kept, not those of the last revisions: a replay
 * tries old ones again. A webhook has few more rows than are kept, and the statement reads them all.
 */
export async function trimDeliveries(db: Kysely<Schema>, place: Place, now: Date): Promise<void> {
  const { customer_id, org_id, id } = place;
  const ofWebhook = isOfCustomer(place)
    ? sql<SqlBool>`customer_id = ${customer_id} and webhook_id = ${id}`
    : sql<SqlBool>`customer_id = ${customer_id} and org_id = ${org_id} and webhook_id = ${id}`;
  const since = new Date(now.getTime() - keptDays * 86_400_000);
  await sql`
    delete from webhook_deliveries where ${ofWebhook} and (attempt_time <= ${since} or (attempt_time, revision, position) <= (
      select attempt_time, revision, position from webhook_deliveries where ${ofWebhook}
      order by attempt_time desc, revision desc, position desc offset ${sql.lit(keptDeliveries)} limit 1))`.execute(db);
}

/** So many entries are looked at for what the filter matches, before the cursor is moved. */
const window = 1_000;

/** Returns the last entry of the next ones in a log; undefined if there are none. */
export async function findWindowEnd(db: Kysely<Schema>, orgId: string, after: Cursor): Promise<Position | undefined> {
  const { rows } = await sql<Position>`
    select ${timeText(sql`ahead.time`)} as time, ahead.revision, ahead.position from (
      select changes.time, changes.revision, changes.position from changes
      where changes.org_id = ${orgId} and ${compared(">", after)}
        and ${sql.raw(isInThePast)}
      order by changes.time, changes.org_id, changes.revision, changes.position limit ${sql.lit(window)}
    ) as ahead order by ahead.time desc, ahead.revision desc, ahead.position desc limit 1`.execute(db);
  return rows[0];
}
