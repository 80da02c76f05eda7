import { serviceAuthor } from "../../changes/author.ts";
import { inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import type { Webhooks } from "../../database/webhook-tables.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { changeWebhook } from "../webhooks/set-state.ts";
import { selectWebhooks } from "../webhooks/store.ts";
import type { DeliveryCounts } from "./counts.ts";
import type { Lease } from "./lease.ts";
import { type Claimed, isOfCustomer } from "./store.ts";

/** Disables a webhook that was claimed, unless it was changed since or the lease was lost. */
export type DisableWebhook = (
  webhook: Claimed,
  lease: Lease,
  reason: NonNullable<Webhooks["disabled_reason"]>,
) => Promise<void>;

const author = serviceAuthor("tenantry/deliveries");

export function createDisableWebhook(
  { database }: Pick<ResourceDependencies, "database">,
  counts: DeliveryCounts,
): DisableWebhook {
  return (webhook, lease, reason) =>
    inTransaction(database, (db) => {
      const parent = { by: "id", value: webhook.org_id } as const;
      const locks = isOfCustomer(webhook) ? { logOfCustomer: parent } : ({ org: parent, state: "any" } as const);
      return writeInOrg(db, locks, author, async (transaction) => {
        const row = await selectWebhooks(db)
          .where(isInOrgOf("webhooks", transaction.org))
          .where("webhooks.id", "=", webhook.id)
          .where("webhooks.changed_revision", "=", webhook.changed_revision)
          .where("webhooks.lease_id", "=", lease.id)
          .executeTakeFirst();
        if (row === undefined) return;
        await changeWebhook(transaction, row, { columns: { state: "DISABLED", disabled_reason: reason } });
        counts.outcomes.disabled++;
      });
    });
}
