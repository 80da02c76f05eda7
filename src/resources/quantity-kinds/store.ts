import { type InferResult, type Kysely, sql } from "kysely";
import { columnsOf, namedColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type QuantityKindRow = InferResult<ReturnType<typeof selectQuantityKinds>>[number];

export const quantityKindColumns = ["org_id", "unit", "step", ...namedColumns] as const;

export function selectQuantityKinds(db: Kysely<Schema>) {
  return db.selectFrom("quantity_kinds").select(columnsOf("quantity_kinds", quantityKindColumns));
}

export async function findQuantityKinds(db: Kysely<Schema>, names: readonly string[]): Promise<QuantityKindRow[]> {
  if (names.length === 0) return [];
  return selectQuantityKinds(db)
    .where(sql<boolean>`quantity_kinds.name = any(${names}::text[])`)
    .execute();
}
