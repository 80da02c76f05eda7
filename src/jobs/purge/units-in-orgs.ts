import { purgeAuthor } from "../../changes/author.ts";
import { lockOrgThatStays } from "../../changes/lock-org.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../../changes/write-in-org.ts";
import { type OrgLocks, lockCustomersFirst } from "../../changes/write-locks.ts";
import { type PurgeTaskDependencies, type PurgeUnit, type Removed, nothing } from "./purge-task.ts";

/**
 * Groups rows that were found in orgs into units of at most `size` rows of one org. The orgs must not be purgeable themselves.
 * A unit is a write in its org, whatever the state of the org. The orgs take turns.
 *
 * @param remove checks again which of the rows can be removed, and removes them.
 * @param customer whether the customer of the org is locked, too.
 */
export function unitsInOrgs<Row extends { readonly org_id: string }>(
  { database }: PurgeTaskDependencies,
  rows: readonly Row[],
  size: number,
  remove: (transaction: OrgTransaction, rows: readonly Row[]) => Promise<Removed>,
  customer = false,
): PurgeUnit[] {
  const removeInOrg = (orgId: string, some: readonly Row[]): Promise<Removed> =>
    inTransaction(database, async (db) => {
      const locks: OrgLocks = { org: { by: "id", value: orgId }, state: "any" };
      if (customer) lockCustomersFirst(db, [locks.org]);
      if (!(await lockOrgThatStays(db, orgId))) return nothing;
      return writeInOrg(db, locks, purgeAuthor, (transaction) => remove(transaction, some));
    });
  const byOrg = Map.groupBy(rows, (row) => row.org_id);
  const units = [...byOrg].flatMap(([scope, found]) =>
    inPartsOf(size, found).map((some, turn) => ({ turn, scope, remove: () => removeInOrg(scope, some) })),
  );
  return units.toSorted((one, other) => one.turn - other.turn);
}

function inPartsOf<Item>(size: number, items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
