// How far each webhook has delivered, and which server delivers, by a lease (lease.ts). All times are of the clock of the database.
import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { timeText } from "../../database/clock.ts";
import { isInThePast } from "../../database/partitions.ts";
import type { Schema } from "../../database/schema.ts";
import type { WebhookDeliveries, Webhooks } from "../../database/webhook-tables.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { compared } from "../changes/store.ts";
import { keptDays, keptDeliveries } from "../webhooks/list-deliveries.ts";
import { type Lease, type Place, type Position, isAt, isHeld, nextAttempt } from "./lease.ts";

/** A webhook that is claimed. */
export interface Claimed extends Place {
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

const isInActiveOrg = (place: Place): RawBuilder<SqlBool> =>
  sql<SqlBool>`webhooks.state = 'ACTIVE' and exists (select from orgs where ${isAtOrg(place)} and ${isActiveOrg})`;

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
  const { rows } = await sql<Claimed>`
    update webhooks set lease_id = ${id}, lease_end = ${end}
    where ${isAt("webhooks", place)} and ${isInActiveOrg(place)} and lease_end <= ${now} and next_attempt_time <= ${now}
    returning customer_id, org_id, id, changed_revision, url, filter, format, member_org_id, member_id, sealed_secret,
      sealed_previous_secret, hold_retention, previous_secret_expire_time, ${timeText(sql`cursor_time`)} as cursor_time, cursor_revision,
      cursor_position, ${timeText(sql`noted_time`)} as noted_time, ${timeText(sql`pending_time`)} as pending_time, pending_revision, pending_position,
      failing_since`.execute(db);
  return rows[0];
}

/**
 * Begins a try: notes its last entry, so that the next try has the same ones, and holds the lease for longer. Returns how often the request
 * has been tried, with this time; undefined if the webhook must not deliver, because it was changed, or has lost its lease or its state.
 */
export async function beginTry(
  db: Kysely<Schema>,
  lease: Lease,
  { changed_revision: revision }: Claimed,
  last: Position,
  leaseEnd: Date,
): Promise<number | undefined> {
  const { rows } = await sql<{ attempts: number }>`
    update webhooks set attempts = attempts + 1, lease_end = ${leaseEnd}, pending_time = ${last.time}::timestamptz,
      pending_revision = ${last.revision}, pending_position = ${last.position}
    where ${isHeld("webhooks", lease)} and ${isInActiveOrg(lease.place)} and changed_revision = ${revision}
    returning attempts`.execute(db);
  return rows[0]?.attempts;
}

/** What is kept of a request. */
export type RecordedDelivery = Omit<WebhookDeliveries, "customer_id" | "org_id" | "webhook_id">;

/** What becomes of a webhook after a try, or without one. */
interface Ended {
  /** Where the cursor is set; undefined to leave it, for another try of the same request. */
  readonly cursor?: Position;
  readonly failingSince: Date | null;
  /** Undefined to leave it. */
  readonly nextAttemptTime?: Date;
  readonly delivery?: RecordedDelivery;
  /** The revision in which the webhook was changed last; undefined for what holds for a webhook that has changed since, too. */
  readonly changedRevision?: string;
}

/** Ends a try, and records it. Returns false if it does not hold any more: the webhook has changed, or somebody else has it. */
export async function endTry(db: Kysely<Schema>, lease: Lease, ended: Ended): Promise<boolean> {
  const { cursor, failingSince, nextAttemptTime, delivery, changedRevision } = ended;
  const moved =
    cursor === undefined
      ? sql``
      : sql`cursor_time = ${cursor.time}::timestamptz, cursor_revision = ${cursor.revision},
          cursor_position = ${cursor.position}, pending_time = null, pending_revision = null, pending_position = null,
          attempts = 0,`;
  const update = sql`
    update webhooks set ${moved} ${nextAttempt(nextAttemptTime)} failing_since = ${failingSince}
    where ${isHeld("webhooks", lease)} and ${isUnchanged(changedRevision)} returning customer_id, org_id, id`;
  const { rows } = await (delivery === undefined ? update : insertDelivery(update, delivery)).execute(db);
  return rows.length > 0;
}

function insertDelivery(update: RawBuilder<unknown>, delivery: RecordedDelivery): RawBuilder<unknown> {
  const columns = Object.keys(delivery) as (keyof RecordedDelivery)[];
  const names = sql.join(columns.map((column) => sql.ref(column)));
  // A parameter of a select has no type of its own.
  const values = sql.join(columns.map((column) => sql`${delivery[column]}::${sql.raw(typeOf[column])}`));
  const replaced = sql.join(columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`));
  return sql`
    with ended as (${update})
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
export async function trimDeliveries(db: Kysely<Schema>, { customer_id, org_id, id }: Place, now: Date): Promise<void> {
  const ofWebhook = sql<SqlBool>`customer_id = ${customer_id} and org_id = ${org_id} and webhook_id = ${id}`;
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
