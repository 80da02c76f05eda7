import { type InferResult, type Kysely, type Transaction, sql } from "kysely";
import { columnsOf, namedColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type QuantityKindRow = InferResult<ReturnType<typeof selectQuantityKinds>>[number];

export const quantityKindColumns = ["org_id", "unit", "step", ...namedColumns] as const;

export function selectQuantityKinds(db: Kysely<Schema>) {
  return db.selectFrom("quantity_kinds").select(columnsOf("quantity_kinds", quantityKindColumns));
}

/** Finds kinds by name. Returns those that exist. */
export async function findQuantityKinds(db: Kysely<Schema>, names: readonly string[]): Promise<QuantityKindRow[]> {
  return names.length === 0 ? [] : selectNamed(db, names).execute();
}

/** In one order, in which all transactions lock them. */
function selectNamed(db: Kysely<Schema>, names: readonly string[]) {
  return selectQuantityKinds(db)
    .where(sql<boolean>`quantity_kinds.name = any(${names}::text[])`)
    .orderBy("quantity_kinds.name");
}

/** Locks kinds against their deletion until the transaction ends. Returns those that exist. */
export function lockQuantityKinds(db: Transaction<Schema>, names: readonly string[]): Promise<QuantityKindRow[]> {
  return selectNamed(db, names)
    .modifyEnd(sql`for key share`)
    .execute();
}

/** Locks kinds that are deleted: no quota of them is created until the transaction ends. */
export async function lockDeletedKinds(db: Transaction<Schema>, names: readonly string[]): Promise<void> {
  await selectNamed(db, names).forUpdate().execute();
}
