// Removes what usage was summed up to, in batches.
import { type RawBuilder, type SqlBool, type Transaction, sql } from "kysely";
import type { OrgKey } from "../../database/org-key.ts";
import { deletePlaces, lockPlaces } from "../../database/places.ts";
import type { Schema } from "../../database/schema.ts";

/** How many summaries are removed at once. */
const summariesAtOnce = 100;

/**
 * Removes summaries, and before them up to `limit` of their sums. Who adds to a summary locks it, so that nothing is left of it.
 *
 * @param place the org, or the customer in its place.
 * @returns how many rows; 0 if there are none.
 */
export async function removeSummaries(
  db: Transaction<Schema>,
  place: OrgKey,
  condition: RawBuilder<SqlBool>,
  limit: number,
): Promise<number> {
  const summaries = await lockPlaces(db, "usage_summaries", place, condition, summariesAtOnce);
  if (summaries.length === 0) return 0;
  const isOfThem = sql<SqlBool>`summary_id in (
    select id from usage_summaries where ctid = any (${summaries}::tid[]) and customer_id = ${place.customer_id} and org_id = ${place.id})`;
  const removed = await deletePlaces(
    db,
    "usage_sums",
    place,
    await lockPlaces(db, "usage_sums", place, isOfThem, limit),
  );
  return removed < limit ? removed + (await deletePlaces(db, "usage_summaries", place, summaries)) : removed;
}
