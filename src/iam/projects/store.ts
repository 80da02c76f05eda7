import type { InferResult, Kysely } from "kysely";
import { columnsOf, deletableColumns, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type ProjectRow = InferResult<ReturnType<typeof selectProjects>>[number];

export const projectColumns = ["org_id", "state", ...namedColumns, ...deletableColumns] as const;

export function selectProjects(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("projects", (join) =>
      join.onRef("projects.customer_id", "=", "orgs.customer_id").onRef("projects.org_id", "=", "orgs.id"),
    )
    .select(columnsOf("projects", projectColumns))
    .select([...pathColumns.org]);
}
