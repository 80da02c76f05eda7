// How far a webhook of a customer has delivered each of its logs (`webhook_logs`). All of this is written under the lock of the webhook, which
// comes first, as in the statements that deliver.
import { type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { type OrgKey, isInOrgOf, isLogOfCustomer } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { type Position, noRevision } from "../deliveries/lease.ts";

/** Locks webhooks of an org or of a customer. What ends a try of one waits. */
export async function lockWebhooks(db: Kysely<Schema>, org: OrgKey, ids: readonly string[]): Promise<void> {
  await db
    .selectFrom("webhooks")
    .select("id")
    .where(isInOrgOf("webhooks", org))
    .where("id", "in", ids)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/** Has a webhook of a customer begin another request in each log, at once. */
export async function beginLogsAnew({ db, org }: OrgTransaction, webhookId: string): Promise<void> {
  await lockWebhooks(db, org, [webhookId]);
  await sql`
    update webhook_logs set pending_time = null, pending_revision = null, pending_position = null, attempts = 0, failing_since = null,
      next_attempt_time = 'epoch'
    where customer_id = ${org.customer_id} and webhook_id = ${webhookId}
      and (pending_time is not null or failing_since is not null)`.execute(db);
}

/**
 * Sets the cursor of a webhook of a customer in one log, before an entry. Up to when the log is known to have entries is left as it was: a
 * write in another org does not wait for the lock of the customer, and may be committed with an earlier time than this one.
 */
export async function setCursor(
  { db, org }: OrgTransaction,
  webhookId: string,
  logId: string,
  cursor: Position,
): Promise<void> {
  await lockWebhooks(db, org, [webhookId]);
  await sql`
    insert into webhook_logs as logs (customer_id, org_id, webhook_id, noted_time, cursor_time, cursor_revision, cursor_position)
    values (${org.customer_id}, ${logId}, ${webhookId}, ${cursor.time}::timestamptz, ${cursor.time}::timestamptz, ${cursor.revision}, ${cursor.position})
    on conflict (customer_id, webhook_id, org_id) do update set
      cursor_time = excluded.cursor_time,
      cursor_revision = excluded.cursor_revision, cursor_position = excluded.cursor_position, pending_time = null, pending_revision = null,
      pending_position = null, attempts = 0, failing_since = null, next_attempt_time = 'epoch'`.execute(db);
}

/** Returns the revision up to which a webhook of a customer has delivered a log; undefined if it has delivered nothing of it. */
export async function readCursorRevision(
  db: Kysely<Schema>,
  customerId: string,
  webhookId: string,
  logId: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom("webhook_logs")
    .select("cursor_revision")
    .where("customer_id", "=", customerId)
    .where("webhook_id", "=", webhookId)
    .where("org_id", "=", logId)
    .executeTakeFirst();
  return found === undefined || found.cursor_revision === noRevision ? undefined : found.cursor_revision;
}

/** Removes what is known of webhooks of an org, or of a customer, that are removed. */
export async function removeDeliveries(db: Kysely<Schema>, org: OrgKey, ids: readonly string[]): Promise<void> {
  const isOfCustomer = isLogOfCustomer(org);
  // First, as where an org is emptied.
  if (isOfCustomer) {
    await db
      .deleteFrom("webhook_logs")
      .where("customer_id", "=", org.customer_id)
      .where("webhook_id", "in", ids)
      .execute();
  }
  const deliveries = db.deleteFrom("webhook_deliveries").where("webhook_id", "in", ids);
  await (
    isOfCustomer
      ? deliveries.where("customer_id", "=", org.customer_id)
      : deliveries.where(isInOrgOf("webhook_deliveries", org))
  ).execute();
}
