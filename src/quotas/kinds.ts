// The QuantityKinds that quotas are of. A kind is not deleted while a quota has a limit or usage of it: who sets a limit locks its kind,
// and who deletes a kind locks it before it looks for quotas.
import { type Kysely, type RawBuilder, type Transaction, sql } from "kysely";
import type { Schema } from "../database/schema.ts";

type Db = Transaction<Schema>;

/** Locks kinds against their deletion until the transaction ends. Returns the names of those that exist. */
export async function lockKinds(db: Db, names: readonly string[]): Promise<ReadonlySet<string>> {
  return findKinds(db, names, sql`for key share`);
}

/**
 * Returns the names of those kinds that exist.
 *
 * @param locking how they are locked; not at all by default.
 */
export async function findKinds(
  db: Kysely<Schema>,
  names: readonly string[],
  locking: RawBuilder<unknown> = sql``,
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const { rows } = await select(names, locking).execute(db);
  return new Set(rows.map(({ name }) => name));
}

/** Locks kinds that are deleted: no quota of them is created until the transaction ends. */
export async function lockDeletedKinds(db: Db, names: readonly string[]): Promise<void> {
  await select(names, sql`for update`).execute(db);
}

/** In one order, in which all transactions lock them. */
function select(names: readonly string[], locking: RawBuilder<unknown>): RawBuilder<{ readonly name: string }> {
  return sql`select name from quantity_kinds where name = any(${names}::text[]) order by name ${locking}`;
}

/** Returns how many quotas have a limit or usage of a kind. */
export async function countQuotasOfKind(db: Db, kind: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from quotas where kind = ${kind}`.execute(db);
  return rows[0]?.count ?? 0;
}
