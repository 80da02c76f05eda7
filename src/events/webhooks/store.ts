import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type WebhookRow = InferResult<ReturnType<typeof selectWebhooks>>[number];

export const webhookColumns = [
  "org_id",
  "parent_customer_id",
  "url",
  "filter",
  "format",
  "hold_retention",
  "public_key",
  "previous_public_key",
  "state",
  "disabled_reason",
  "member_org_id",
  "member_id",
  "previous_secret_expire_time",
  ...namedColumns,
] as const;

/** The columns that neither reads return nor the change log keeps: the secrets, and how far a webhook has delivered. */
export const unreadWebhookColumns = [
  "sealed_secret",
  "sealed_previous_secret",
  "cursor_time",
  "cursor_revision",
  "cursor_position",
  "pending_time",
  "pending_revision",
  "pending_position",
  "attempts",
  "failing_since",
  "next_attempt_time",
  "noted_time",
  "start_time",
  "org_customer_id",
  "lease_id",
  "lease_end",
] as const;

/** Selects all webhooks, with the columns that their paths need. */
export function selectWebhooks(db: Kysely<Schema>) {
  return db
    .selectFrom("webhooks")
    .leftJoin("orgs", (join) =>
      join.onRef("orgs.customer_id", "=", "webhooks.org_customer_id").onRef("orgs.id", "=", "webhooks.org_id"),
    )
    .leftJoin("customers", "customers.id", "webhooks.parent_customer_id")
    .select(columnsOf("webhooks", webhookColumns))
    .select([...pathColumns.org, "customers.name as customer_name", "customers.delete_time as customer_delete_time"]);
}
