import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type LeasedTable, afterAll } from "./lease.ts";

/** What follows the log of its org with a cursor, and is delivered of by the service: webhooks, or event streams that are pushed. */
export interface Followers {
  readonly table: LeasedTable;
  /** What a commit says if the org has one, or its customer. */
  readonly noticed: "has_webhooks" | "has_event_streams";
  /** Of their own entries in the log. */
  readonly resourceType: "Webhook" | "EventStream";
  /** Whether some are of customers, whose logs have rows of their own (customer-logs.ts). */
  readonly hasCustomers: boolean;
  /** The condition of those that deliver, for which there is an index that begins with `org_id`. */
  readonly isActive: RawBuilder<SqlBool>;
  /** The condition of the index of those that have something to deliver. */
  readonly isBehind: RawBuilder<SqlBool>;
}

const isWebhookActive = sql<SqlBool>`webhooks.state = 'ACTIVE'`;

export const webhookFollowers: Followers = {
  table: "webhooks",
  noticed: "has_webhooks",
  resourceType: "Webhook",
  hasCustomers: true,
  isActive: isWebhookActive,
  // The index `webhooks_due`.
  isBehind: sql`${isWebhookActive} and (webhooks.noted_time > webhooks.cursor_time or webhooks.cursor_position <> ${sql.lit(afterAll)})`,
};

/** Also in an org that is suspended or deleted: that it is, streams tell. */
const isStreamPushed = sql<SqlBool>`event_streams.state = 'ACTIVE' and event_streams.push_url <> ''`;

export const streamFollowers: Followers = {
  table: "event_streams",
  noticed: "has_event_streams",
  resourceType: "EventStream",
  hasCustomers: false,
  isActive: isStreamPushed,
  // The index `event_streams_due`.
  isBehind: sql`${isStreamPushed} and (event_streams.noted_time > event_streams.cursor_time
    or event_streams.cursor_position <> ${sql.lit(afterAll)} or event_streams.verification_id is not null)`,
};
