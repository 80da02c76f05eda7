import type { ColumnType, Generated } from "kysely";
import type { NamedColumns } from "./shared-columns.ts";

// The tables of webhooks, as Kysely and pg read them.

/** @public */
export interface Webhooks extends NamedColumns {
  customer_id: string;
  org_id: string;
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
  /** The last entry of the log that was delivered or given up, or that the filter does not match. */
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
  /** A time up to which the log is known to have entries: what is later than the cursor is to be delivered. */
  noted_time: ColumnType<Date, string | undefined, string>;
  /** Which run of a server delivers, and until when, by the clock of the database. */
  lease_id: string | null;
  lease_end: ColumnType<Date, never, Date | string>;
}

/** The last requests of each webhook, by their first entry. */
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
  webhook_deliveries: WebhookDeliveries;
}
