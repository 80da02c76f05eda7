import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type ApiKeyRow = InferResult<ReturnType<typeof selectApiKeys>>[number];

export const apiKeyColumns = [
  "org_id",
  "member_id",
  "prefix",
  "expire_time",
  "last_use_time",
  "grants_until",
  "scopes",
  "allowed_addresses",
  "rotated_from_id",
  ...namedColumns,
] as const;

/** Selects all API keys, without their hashes, with the columns that their paths need. */
export function selectApiKeys(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("members", (join) =>
      join.onRef("members.customer_id", "=", "orgs.customer_id").onRef("members.org_id", "=", "orgs.id"),
    )
    .innerJoin("api_keys", (join) =>
      join
        .onRef("api_keys.customer_id", "=", "members.customer_id")
        .onRef("api_keys.org_id", "=", "members.org_id")
        .onRef("api_keys.member_id", "=", "members.id"),
    )
    .select(columnsOf("api_keys", apiKeyColumns))
    .select([...pathColumns.org, ...pathColumns.member]);
}
