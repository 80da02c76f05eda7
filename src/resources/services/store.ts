import type { InferResult, Kysely } from "kysely";
import { columnsOf, namedColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type ServiceRow = InferResult<ReturnType<typeof selectServices>>[number];

export const serviceColumns = ["org_id", "counted_kinds", ...namedColumns] as const;

export function selectServices(db: Kysely<Schema>) {
  return db.selectFrom("services").select(columnsOf("services", serviceColumns));
}
