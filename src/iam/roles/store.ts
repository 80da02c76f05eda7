import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type RoleRow = InferResult<ReturnType<typeof selectRoles>>[number];

export const roleColumns = ["org_id", "permissions", ...namedColumns] as const;

export function selectRoles(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("roles", (join) =>
      join.onRef("roles.customer_id", "=", "orgs.customer_id").onRef("roles.org_id", "=", "orgs.id"),
    )
    .select(columnsOf("roles", roleColumns))
    .select([...pathColumns.org]);
}
