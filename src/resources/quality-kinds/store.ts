import { type InferResult, type Kysely, sql } from "kysely";
import { columnsOf, namedColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type QualityKindRow = InferResult<ReturnType<typeof selectQualityKinds>>[number];

export const qualityKindColumns = ["org_id", "highest_grade", ...namedColumns] as const;

export function selectQualityKinds(db: Kysely<Schema>) {
  return db.selectFrom("quality_kinds").select(columnsOf("quality_kinds", qualityKindColumns));
}

export async function findQualityKinds(db: Kysely<Schema>, names: readonly string[]): Promise<QualityKindRow[]> {
  if (names.length === 0) return [];
  return selectQualityKinds(db)
    .where(sql<boolean>`quality_kinds.name = any(${names}::text[])`)
    .execute();
}
