import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { LookupInTransaction } from "../../database/path-lookup.ts";
import { required } from "../../errors/required.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { orgReference } from "../org-reference.ts";

/** Looks up the parents of the items of a batch, which are in the org of the write, each once. Undefined for one that does not exist. */
export async function findParents<Row>(
  transaction: OrgTransaction,
  lookup: LookupInTransaction<Row>,
  parents: readonly (readonly Reference[])[],
): Promise<(Row | undefined)[]> {
  const keys = parents.map(([, parent]) => JSON.stringify(parent));
  const distinct = new Map(keys.map((key, index) => [key, [orgReference(transaction), required(parents[index]?.[1])]]));
  const found = await lookup.all(transaction.db, [...distinct.values()]);
  const byKey = new Map([...distinct.keys()].map((key, index) => [key, found[index]]));
  return keys.map((key) => byKey.get(key));
}
