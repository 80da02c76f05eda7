import type { Later, WriteTransaction } from "../database/write-transaction.ts";
import type { Reference } from "../paths/parse-path.ts";
import { lockCustomersOf } from "./lock-customers.ts";
import { type FoundRow, lockOrgWithNext } from "./lock-org.ts";

/** What a write locks before it reads anything that it depends on. Every transaction locks the org `system`, customers and orgs in this order. */
export interface WriteLocks {
  /** The org to whose change log the write appends. */
  readonly org: Reference;
  /** Whether the customer of the org is locked, too: the write changes what is counted for all orgs of the customer. */
  readonly customer?: boolean;
  /** The state in which the org must be: `any` for writes that change the org itself, or must go on in every state. Default: `active`. */
  readonly state?: "active" | "any";
}

/**
 * Takes locks together with the next statement. `requireLocked` takes what comes of it.
 *
 * @throws Error when the customer would be locked after an org: another transaction may have that customer and wait for that org.
 */
export function lockWithNext(db: WriteTransaction, { org, customer = false }: WriteLocks): Later<readonly FoundRow[]> {
  if (customer) lockCustomersFirst(db, [org]);
  db.hasLockedOrg = true;
  return lockOrgWithNext(db, org);
}

/** Locks the customers of several orgs, before the first of these is locked. Throws as `lockWithNext`. */
export function lockCustomersFirst(db: WriteTransaction, orgs: readonly Reference[]): void {
  if (db.hasLockedOrg) throw new Error("a transaction that has locked an org locks no customer: customers come first");
  lockCustomersOf(db, orgs);
}
