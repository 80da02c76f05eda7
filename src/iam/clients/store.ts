import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type ClientRow = InferResult<ReturnType<typeof selectClients>>[number];

export const clientColumns = [
  "org_id",
  "redirect_uris",
  "confidential",
  "scopes",
  "previous_secret_expire_time",
  ...namedColumns,
] as const;

/** Selects all clients, without the hashes of their secrets, with the columns that their paths need. */
export function selectClients(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("clients", (join) =>
      join.onRef("clients.customer_id", "=", "orgs.customer_id").onRef("clients.org_id", "=", "orgs.id"),
    )
    .select(columnsOf("clients", clientColumns))
    .select([...pathColumns.org]);
}
