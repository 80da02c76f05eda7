import type { ColumnType, Generated } from "kysely";
import type { NamedColumns } from "./shared-columns.ts";

// The tables of webhooks, as Kysely and pg read them.

/** @public */
export interface Webhooks extends NamedColumns {
  customer_id: string;
  /** That of the customer, for a webhook of a customer. */
  org_id: string;
  /** The customer of the org; null for a webhook of a customer, so that the reference to an org does not hold for it. */
  org_customer_id: ColumnType<string | null, never, never>;
  /** The customer of a webhook of a customer; null for one of an org. */
  parent_customer_id: ColumnType<string | null, string | null | undefined, never>;
  url: string;
  filter: string;
  format: "STANDARD" | "CLOUDEVENTS" | "NDJSON_BATCH";
  state: "ACTIVE" | "PAUSED" | "DISABLED";
  disabled_reason: "GONE" | "ACCESS_LOST" | null;
  /** The member for which it delivers. It may no longer exist. */
  member_org_id: string;
  member_id: string;
  /** The secrets with which requests are signed, encrypted with the id of the row. */
  sealed_secret: Buffer;
  sealed_previous_secret: Buffer | null;
  previous_secret_expire_time: Date | null;
  /** The keys that receivers verify with, if it signs with Ed25519; the secrets are the private ones then. Null if it signs with HMAC. */
  public_key: Buffer | null;
  previous_public_key: Buffer | null;
  /** Whether the log is kept until it has delivered it. */
  hold_retention: boolean;
  /**
   * The last entry of the log that was delivered or given up, or that the filter does not match. A webhook of a customer has that of each log
   * in `webhook_logs`; here, its time is the noted one with which it was found that nothing is left, and the position -1 says that all logs
   * are to be compared with how far it has delivered.
   */
  cursor_time: ColumnType<Date, string, string>;
  cursor_revision: string;
  cursor_position: number;
  /** The last entry of the request that is being sent: each try has the same ones. Null if none is. */
  pending_time: ColumnType<Date | null, never, string | null>;
  pending_revision: string | null;
  pending_position: number | null;
  /** How often that request was sent. */
  attempts: Generated<number>;
  /** When the first request failed after the last one that did not; null if none has. */
  failing_since: ColumnType<Date | null, never, Date | string | null>;
  next_attempt_time: ColumnType<Date, string | undefined, Date | string>;
  /**
   * A time up to which the log is known to have entries: what is later than the cursor is to be delivered. Of a webhook of a customer, it
   * only grows when something is noted in any of its logs.
   */
  noted_time: ColumnType<Date, string | undefined, string>;
  /** From when on a webhook of a customer delivers logs that have no row in `webhook_logs` yet; null for one of an org. */
  start_time: ColumnType<Date | null, string | null | undefined, never>;
  /** Which run of a server delivers, and until when, by the clock of the database. */
  lease_id: string | null;
  lease_end: ColumnType<Date, never, Date | string>;
}

/** How far a webhook has delivered a log. */
type LogProgress = Pick<
  Webhooks,
  | "cursor_time"
  | "cursor_revision"
  | "cursor_position"
  | "pending_time"
  | "pending_revision"
  | "pending_position"
  | "attempts"
  | "failing_since"
  | "next_attempt_time"
>;

/** @public How far a webhook of a customer has delivered the log of an org, or of the customer itself. Written under the lock of the webhook. */
export interface WebhookLogs extends LogProgress {
  customer_id: string;
  /** Of the log: that of the customer, if it is the log of that. */
  org_id: string;
  webhook_id: string;
  noted_time: ColumnType<Date, string, string>;
}

/** The last requests of each webhook, by their first entry. The org is that of the log, or the customer in the place of one. */
export interface WebhookDeliveries {
  customer_id: string;
  org_id: string;
  webhook_id: string;
  revision: string;
  position: number;
  message_id: string;
  change_count: number;
  state: "DELIVERED" | "FAILED" | "DEAD";
  attempts: number;
  attempt_time: Date;
  next_attempt_time: Date | null;
  status_code: number;
  answer: string;
  error: string;
  duration_ms: number;
}

/** @public */
export interface WebhookTables {
  webhooks: Webhooks;
  webhook_logs: WebhookLogs;
  webhook_deliveries: WebhookDeliveries;
}
