import type { InferResult, Kysely } from "kysely";
import { columnsOf, deletableColumns, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type MemberRow = InferResult<ReturnType<typeof selectMembers>>[number];

export const memberColumns = [
  "org_id",
  "type",
  "state",
  "invitation_expire_time",
  "email",
  "token_gen",
  ...namedColumns,
  ...deletableColumns,
] as const;

export function selectMembers(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("members", (join) =>
      join.onRef("members.customer_id", "=", "orgs.customer_id").onRef("members.org_id", "=", "orgs.id"),
    )
    .select(columnsOf("members", memberColumns))
    .select([...pathColumns.org]);
}
