import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type GroupRow = InferResult<ReturnType<typeof selectGroups>>[number];

export const groupColumns = ["org_id", ...namedColumns] as const;

export function selectGroups(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("groups", (join) =>
      join.onRef("groups.customer_id", "=", "orgs.customer_id").onRef("groups.org_id", "=", "orgs.id"),
    )
    .select(columnsOf("groups", groupColumns))
    .select([...pathColumns.org]);
}
