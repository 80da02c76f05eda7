// The number of resources of each type below each parent, without deleted ones. Writers update `resource_counts` under the lock
// of the org, so the counts are exact and cause no further lock waits.
import { type RawBuilder, type Transaction, sql } from "kysely";
import type { KnownStatement } from "../../database/connection-pool.ts";
import type { OrgKey } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import type { Later, WriteTransaction } from "../../database/write-transaction.ts";
import type { ResourceType } from "../../paths/patterns.ts";

/** The resources of a type below one parent, which may be the org itself. */
export interface Counted {
  readonly type: ResourceType;
  readonly org: OrgKey;
  readonly parentId: string;
}

/** Returns the statement that reads the number of resources. */
export function countStatement(type: ResourceType, orgId: string, parentId: string): KnownStatement {
  const text = "select count from resource_counts where org_id = $1 and parent_id = $2 and resource_type = $3";
  return { text, values: [orgId, parentId, type], isKept: true };
}

/** Returns the number in the rows that it reads. */
export function countIn(rows: readonly unknown[]): number {
  const [row] = rows as readonly Pick<Count, "count">[];
  return Number(row?.count ?? 0);
}

/**
 * Adds to the counts of parents in an org.
 *
 * @param differences by parent id; either all positive or all negative.
 * @returns the new counts, by parent id.
 */
export async function addToCounts(
  db: Transaction<Schema>,
  type: ResourceType,
  org: OrgKey,
  differences: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  if (differences.size === 0) return new Map();
  const { rows } = await additionToCounts(type, org, differences).execute(db);
  return toCounts(type, differences, rows);
}

/** The same together with the next statement. Throws later when something was removed that had not been counted. */
export function addToCountsWithNext(
  db: WriteTransaction,
  type: ResourceType,
  org: OrgKey,
  differences: ReadonlyMap<string, number>,
): Later<ReadonlyMap<string, number>> {
  if (differences.size === 0) return () => new Map();
  const added = db.sendWithNext(additionToCounts(type, org, differences).compile(db));
  return () => toCounts(type, differences, added());
}

function additionToCounts(
  type: ResourceType,
  org: OrgKey,
  differences: ReadonlyMap<string, number>,
): RawBuilder<Count> {
  const numbers = [...differences.values()];
  const changed = sql`unnest(${[...differences.keys()]}::uuid[], ${numbers}::bigint[]) as changed (parent_id, difference)`;
  // Only a positive difference may insert a row; a check constraint rejects negative counts.
  return (numbers[0] ?? 0) > 0
    ? sql<Count>`
          insert into resource_counts as counts (customer_id, org_id, parent_id, resource_type, count)
          select ${org.customer_id}, ${org.id}, parent_id, ${type}, difference from ${changed}
          on conflict on constraint resource_counts_pkey do update set count = counts.count + excluded.count
          returning counts.parent_id, counts.count`
    : sql<Count>`
          update resource_counts as counts set count = counts.count + changed.difference from ${changed}
          where counts.customer_id = ${org.customer_id} and counts.org_id = ${org.id}
            and counts.parent_id = changed.parent_id and counts.resource_type = ${type}
          returning counts.parent_id, counts.count`;
}

function toCounts(
  type: ResourceType,
  differences: ReadonlyMap<string, number>,
  rows: readonly Count[],
): ReadonlyMap<string, number> {
  if (rows.length !== differences.size) throw new Error(`removed rows of ${type} that were not counted`);
  return new Map(rows.map((row) => [row.parent_id, Number(row.count)]));
}

interface Count {
  readonly parent_id: string;
  readonly count: string;
}

/** The statement that adds a positive number to the count of one parent and returns the new count, in parentheses, for a WITH clause. */
export function additionToCount({ type, org, parentId }: Counted, number: number): RawBuilder<{ count: string }> {
  return sql`(
    insert into resource_counts as counts (customer_id, org_id, parent_id, resource_type, count)
    values (${org.customer_id}, ${org.id}, ${parentId}, ${type}, ${number})
    on conflict on constraint resource_counts_pkey do update set count = counts.count + excluded.count
    returning counts.count)`;
}

/** Deletes the counts below parents that were removed, together with the next statement. */
export function forgetCounts(db: WriteTransaction, org: OrgKey, parentIds: readonly string[]): void {
  const deletion = sql`
    delete from resource_counts
    where customer_id = ${org.customer_id} and org_id = ${org.id} and parent_id = any(${parentIds}::uuid[])`;
  db.sendWithNext(deletion.compile(db));
}
