import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type QuotaRequestRow = InferResult<ReturnType<typeof selectQuotaRequests>>[number];

export const quotaRequestColumns = [
  "org_id",
  "project_id",
  "limits",
  "state",
  "granted_limits",
  "decision_message",
  "actor_org_id",
  "actor_id",
  "decider_org_id",
  "decider_id",
  "decide_time",
  ...namedColumns,
] as const;

/** Selects all quota requests, with the columns that paths need. Those who asked and decided may no longer exist. */
export function selectQuotaRequests(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("quota_requests", (join) =>
      join.onRef("quota_requests.customer_id", "=", "orgs.customer_id").onRef("quota_requests.org_id", "=", "orgs.id"),
    )
    .leftJoin("projects", (join) =>
      join
        .onRef("projects.customer_id", "=", "quota_requests.customer_id")
        .onRef("projects.org_id", "=", "quota_requests.org_id")
        .onRef("projects.id", "=", "quota_requests.project_id"),
    )
    .leftJoin("orgs as actor_orgs", "actor_orgs.id", "quota_requests.actor_org_id")
    .leftJoin("members as actors", (join) =>
      join
        .onRef("actors.customer_id", "=", "actor_orgs.customer_id")
        .onRef("actors.org_id", "=", "actor_orgs.id")
        .onRef("actors.id", "=", "quota_requests.actor_id"),
    )
    .leftJoin("orgs as decider_orgs", "decider_orgs.id", "quota_requests.decider_org_id")
    .leftJoin("members as deciders", (join) =>
      join
        .onRef("deciders.customer_id", "=", "decider_orgs.customer_id")
        .onRef("deciders.org_id", "=", "decider_orgs.id")
        .onRef("deciders.id", "=", "quota_requests.decider_id"),
    )
    .select(columnsOf("quota_requests", quotaRequestColumns))
    .select([
      ...pathColumns.org,
      ...pathColumns.project,
      "actor_orgs.name as actor_org_name",
      "actor_orgs.delete_time as actor_org_delete_time",
      "actors.name as actor_name",
      "actors.delete_time as actor_delete_time",
      "decider_orgs.name as decider_org_name",
      "decider_orgs.delete_time as decider_org_delete_time",
      "deciders.name as decider_name",
      "deciders.delete_time as decider_delete_time",
    ]);
}
