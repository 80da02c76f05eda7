import type { InferResult, Kysely } from "kysely";
import { columnsOf, versionColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type OperationRow = InferResult<ReturnType<typeof selectOperations>>[number];

export const operationColumns = [
  "org_id",
  "project_id",
  "id",
  "resource_id",
  "service_id",
  "type_id",
  "routing_key",
  "verb",
  "prior_state",
  "state",
  "quantities",
  "given_quantities",
  "qualities",
  "given_qualities",
  "outputs",
  "reference_ids",
  "progress_percent",
  "progress_message",
  "cancel_requested",
  "error_reason",
  "error_message",
  "actor_org_id",
  "actor_id",
  "end_time",
  ...versionColumns,
] as const;

/** Selects all operations, with the columns that paths need. The resource, its type and the actor may no longer exist. */
export function selectOperations(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("projects", "projects.org_id", "orgs.id")
    .innerJoin("operations", (join) =>
      join.onRef("operations.org_id", "=", "projects.org_id").onRef("operations.project_id", "=", "projects.id"),
    )
    .leftJoin("resources", (join) =>
      join.onRef("resources.org_id", "=", "operations.org_id").onRef("resources.id", "=", "operations.resource_id"),
    )
    .leftJoin("resource_types", "resource_types.id", "operations.type_id")
    .leftJoin("services", "services.id", "operations.service_id")
    .leftJoin("orgs as actor_orgs", "actor_orgs.id", "operations.actor_org_id")
    .leftJoin("members as actors", (join) =>
      join.onRef("actors.org_id", "=", "operations.actor_org_id").onRef("actors.id", "=", "operations.actor_id"),
    )
    .select(columnsOf("operations", operationColumns))
    .select([
      "orgs.name as org_name",
      "orgs.delete_time as org_delete_time",
      "projects.name as project_name",
      "projects.delete_time as project_delete_time",
      "resources.name as resource_name",
      "resources.delete_time as resource_delete_time",
      "resource_types.name as type_name",
      "services.name as service_name",
      "actor_orgs.name as actor_org_name",
      "actor_orgs.delete_time as actor_org_delete_time",
      "actors.name as actor_name",
      "actors.delete_time as actor_delete_time",
    ]);
}
