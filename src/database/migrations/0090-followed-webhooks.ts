import { type Kysely, sql } from "kysely";
import type { Index } from "../migration/migration.ts";

/**
 * Adds up to which time each webhook knows of entries, whether the log is kept for it, and with what it signs. An older server delivers what
 * it finds itself; what it writes, others find when they look at what was written lately.
 */
export async function extendWebhooks(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `alter table webhooks
        add column noted_time timestamptz not null default 'epoch',
        add column hold_retention boolean not null default false,
        add column public_key bytea,
        add column previous_public_key bytea`,
    )
    .execute(db);
}

/** Those with which webhooks are found that are due, without a look at the others (src/events/deliveries/due.ts). */
export const webhookIndexes: readonly Index[] = [
  {
    name: "webhooks_due",
    definition: `on webhooks (greatest(next_attempt_time, lease_end))
      where state = 'ACTIVE' and (noted_time > cursor_time or cursor_position <> 2147483647)`,
  },
  { name: "webhooks_active", definition: "on webhooks (org_id, id) where state = 'ACTIVE'" },
  { name: "webhooks_holding", definition: "on webhooks (cursor_time) where hold_retention" },
];
