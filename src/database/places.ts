// Rows of tables without an id of their own, by their physical location. It holds while the row is locked.
import { type RawBuilder, type SqlBool, type Transaction, sql } from "kysely";
import { type OrgKey, isInOrgOf } from "./org-key.ts";
import type { Schema } from "./schema.ts";

/** Locks up to `limit` rows of an org that match a condition, and returns their locations. */
export async function lockPlaces(
  db: Transaction<Schema>,
  table: keyof Schema,
  org: OrgKey,
  condition: RawBuilder<SqlBool>,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ place: string }>`
    select ctid::text as place from ${sql.table(table)} where ${isInOrgOf(table, org)} and ${condition}
    limit ${limit} for update`.execute(db);
  return rows.map(({ place }) => place);
}

/** Deletes rows of an org by their locations, and returns how many. Rows that have moved are left. */
export async function deletePlaces(
  db: Transaction<Schema>,
  table: keyof Schema,
  org: OrgKey,
  places: readonly string[],
): Promise<number> {
  if (places.length === 0) return 0;
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ctid = any (${places}::tid[]) and ${isInOrgOf(table, org)}`.execute(db);
  return Number(numAffectedRows);
}
