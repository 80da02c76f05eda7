import type { Kysely } from "kysely";
import { createPartitionsOf } from "../../src/database/partitions.ts";
import type { Schema } from "../../src/database/schema.ts";

/**
 * Lets the log of a database have entries of some months before this one. A new database has none of these, so that an entry of an hour ago
 * has no place on the first day of a month.
 */
export async function createPastMonths(db: Kysely<Schema>, count = 1): Promise<void> {
  const now = new Date();
  const months = Array.from({ length: count }, (_, index) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1 - index));
    return month.toISOString().slice(0, 7).replace("-", "_");
  });
  await createPartitionsOf(db, months);
}
