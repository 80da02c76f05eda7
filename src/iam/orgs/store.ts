import { type InferResult, type Kysely, type Transaction } from "kysely";
import { columnsOf, deletableColumns, namedColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";

export type OrgRow = InferResult<ReturnType<typeof selectOrgs>>[number];

export const orgColumns = [
  "customer_id",
  "state",
  "deleted_with_customer",
  "api_key_max_seconds",
  "api_key_scopes_required",
  "access_request_approvals",
  "legal_name",
  "billing_reference",
  "support_access_required_time",
  "support_access_change_time",
  ...namedColumns,
  ...deletableColumns,
] as const;

/** Selects all orgs, with the columns that the path of their customer needs. */
export function selectOrgs(db: Kysely<Schema>) {
  return db
    .selectFrom("customers")
    .innerJoin("orgs", "orgs.customer_id", "customers.id")
    .select(columnsOf("orgs", orgColumns))
    .select(["customers.name as customer_name", "customers.delete_time as customer_delete_time"]);
}

/** Returns the orgs of a customer that are not deleted, in the order in which they must be locked. */
export function liveOrgsOf(db: Transaction<Schema>, customerId: string): Promise<{ id: string }[]> {
  return db
    .selectFrom("orgs")
    .select("id")
    .where("customer_id", "=", customerId)
    .where("delete_time", "is", null)
    .orderBy("id")
    .execute();
}

/** Returns the orgs that were deleted together with their customer and can still be undeleted, in the same order. */
export function orgsDeletedWith({ db, org }: OrgTransaction, customerId: string): Promise<{ id: string }[]> {
  return db
    .selectFrom("orgs")
    .select("id")
    .where("customer_id", "=", customerId)
    .where("deleted_with_customer", "=", true)
    .where("purge_time", ">", org.lockTime)
    .orderBy("id")
    .execute();
}

export function orgsOf(db: Transaction<Schema>, customerId: string): Promise<{ id: string }[]> {
  return db.selectFrom("orgs").select("id").where("customer_id", "=", customerId).orderBy("id").execute();
}
