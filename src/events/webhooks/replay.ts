import { sql } from "kysely";
import type { ReplayWebhookRequest } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { timeText } from "../../database/clock.ts";
import { isInOrgOf, isLogOfCustomer } from "../../database/org-key.ts";
import { invalidField } from "../../errors/service-error.ts";
import { compareLogs } from "../deliveries/lease.ts";
import { setCursor } from "./logs.ts";
import { requireLogOfCustomer, requireNoOrgPath } from "./org-of-log.ts";
import type { IssuedWebhookRow } from "./message.ts";
import { nonePending, tryAtOnce } from "./rules.ts";
import type { Changed } from "./set-state.ts";

/** Sets the cursor before a revision, and takes the webhook from the server that delivers: it has another cursor. */
export async function replay(
  transaction: OrgTransaction,
  { id }: IssuedWebhookRow,
  { fromRevision: revision, orgPath }: ReplayWebhookRequest,
): Promise<Changed> {
  const { db, org } = transaction;
  const isOfCustomer = isLogOfCustomer(org);
  if (!isOfCustomer) requireNoOrgPath(orgPath);
  const logId = orgPath === "" ? org.id : await requireLogOfCustomer(db, org.id, orgPath, "for key share");
  const found = await db
    .selectFrom("changes")
    .select(timeText(sql`time`).as("time"))
    .where(isInOrgOf("changes", { customer_id: org.customer_id, id: logId }))
    .where("revision", "=", revision)
    .limit(1)
    .executeTakeFirst();
  if (found === undefined) {
    const log = isOfCustomer ? "the log of the org in org_path, or else of the customer itself" : "the log of the org";
    throw invalidField("from_revision", `must be the revision of a Change that is in ${log}`, "revision");
  }
  const released = { ...tryAtOnce, lease_id: null, lease_end: "epoch" } as const;
  if (isOfCustomer) {
    await setCursor(transaction, id, logId, { time: found.time, revision, position: -1 });
    return { columns: { ...released, cursor_position: compareLogs } };
  }
  const cursor = { cursor_time: found.time, cursor_revision: revision, cursor_position: -1 };
  return { columns: { ...cursor, ...nonePending, ...released } };
}
