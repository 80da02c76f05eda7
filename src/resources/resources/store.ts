import type { InferResult, Kysely } from "kysely";
import { columnsOf, deletableColumns, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type InfrastructureRow = InferResult<ReturnType<typeof selectResources>>[number];

export const resourceColumns = [
  "org_id",
  "project_id",
  "type_id",
  "state",
  "state_reason",
  "parameters",
  "quantities",
  "given_quantities",
  "qualities",
  "given_qualities",
  "outputs",
  "reference_ids",
  "operation_id",
  "concurrent_ids",
  ...namedColumns,
  ...deletableColumns,
] as const;

/** Selects all resources, with their types and the columns that their paths need. */
export function selectResources(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("projects", (join) =>
      join.onRef("projects.customer_id", "=", "orgs.customer_id").onRef("projects.org_id", "=", "orgs.id"),
    )
    .innerJoin("resources", (join) =>
      join
        .onRef("resources.customer_id", "=", "projects.customer_id")
        .onRef("resources.org_id", "=", "projects.org_id")
        .onRef("resources.project_id", "=", "projects.id"),
    )
    .innerJoin("resource_types", "resource_types.id", "resources.type_id")
    .innerJoin("services", "services.id", "resource_types.service_id")
    .select(columnsOf("resources", resourceColumns))
    .select([
      ...pathColumns.org,
      ...pathColumns.project,
      "resource_types.name as type_name",
      "resource_types.collection",
      "services.name as service_name",
      "services.id as service_id",
    ]);
}

/** Returns a resource in an org, or in one project of it; undefined if there is none. */
export function findResourceIn(
  db: Kysely<Schema>,
  orgId: string,
  projectId?: string,
): Promise<InfrastructureRow | undefined> {
  let query = selectResources(db).where("resources.org_id", "=", orgId);
  if (projectId !== undefined) query = query.where("resources.project_id", "=", projectId);
  return query.limit(1).executeTakeFirst();
}

/** Returns a resource of a type; undefined if there is none. */
export function findResourceOf(db: Kysely<Schema>, typeId: string): Promise<InfrastructureRow | undefined> {
  return selectResources(db).where("resources.type_id", "=", typeId).limit(1).executeTakeFirst();
}
