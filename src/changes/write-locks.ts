import { OrgLockedError, isLockTimeout } from "../database/failure.ts";
import type { StatementLimits } from "../database/transaction-limits.ts";
import type { Later, WriteTransaction } from "../database/write-transaction.ts";
import type { Reference } from "../paths/parse-path.ts";
import { lockCustomerLogWithNext } from "./lock-customer-log.ts";
import { lockCustomersById, lockCustomersOf, lockNamedCustomer } from "./lock-customers.ts";
import { type LockedOrgRow, lockOrgWithNext } from "./lock-org.ts";

/** What a write locks before it reads anything that it depends on. Every transaction locks customers before orgs. */
export type WriteLocks = OrgLocks | CustomerLocks;

/** Of a write to the log of an org. */
export interface OrgLocks {
  /** The org to whose change log the write appends. */
  readonly org: Reference;
  /** Whether the customer of the org is locked, too: the write changes what is counted for all orgs of the customer. */
  readonly customer?: boolean;
  /** The state in which the org must be: `any` for writes that change the org itself, or must go on in every state. Default: `active`. */
  readonly state?: "active" | "any";
}

/** Of a write to the log of a customer. */
interface CustomerLocks {
  readonly logOfCustomer: Reference;
}

/**
 * Takes locks together with the next statement. Throws later as `lockOrgWithNext`.
 *
 * @param limits of the wait for the lock of the org, and of the statements after it; undefined to keep those that are set.
 * @throws Error when the customer would be locked after an org: another transaction may have that customer and wait for that org.
 */
export function lockWithNext(db: WriteTransaction, locks: WriteLocks, limits?: StatementLimits): Later<LockedOrgRow> {
  if ("logOfCustomer" in locks) {
    const { logOfCustomer } = locks;
    if (logOfCustomer.by !== "id" || !db.lockedCustomerIds.has(logOfCustomer.value)) requireNoOrgLocked(db);
    return lockCustomerLogWithNext(db, logOfCustomer);
  }
  const { org, customer = false } = locks;
  if (customer) lockCustomersFirst(db, [org]);
  db.hasLockedOrg = true;
  return lockOrgWithNext(db, org, limits);
}

/** Sends what takes the locks of a write. @throws OrgLockedError when others have them for too long. */
export async function takeLocks(db: WriteTransaction): Promise<void> {
  try {
    await db.sendHeld();
  } catch (error) {
    throw isLockTimeout(error) ? new OrgLockedError(error) : error;
  }
}

/** Locks the customers of several orgs, before the first of these is locked. Throws as `lockWithNext`. */
export function lockCustomersFirst(db: WriteTransaction, orgs: readonly Reference[]): void {
  requireNoOrgLocked(db);
  lockCustomersOf(db, orgs);
}

/** Locks the customer to whose log a write will append, if there is one, before it is read. Nothing if that is the log of an org. */
export function lockCustomerOfLog(db: WriteTransaction, locks: WriteLocks): void {
  if (!("logOfCustomer" in locks)) return;
  requireNoOrgLocked(db);
  lockNamedCustomer(db, locks.logOfCustomer);
}

/**
 * Locks the customers to whose logs a transaction will append, before the orgs of the first of them are locked. Those of orgs are left out.
 * Throws as `lockWithNext`.
 */
export function lockCustomersOfLogs(db: WriteTransaction, all: readonly WriteLocks[]): void {
  const customers = all.flatMap((locks) => ("logOfCustomer" in locks ? [locks.logOfCustomer] : []));
  const ids = customers.flatMap((customer) => (customer.by === "id" ? [customer.value] : []));
  if (ids.length < 2) return;
  requireNoOrgLocked(db);
  lockCustomersById(db, ids);
  for (const id of ids) db.lockedCustomerIds.add(id);
}

/** @throws Error when an org is locked: customers come first. */
export function requireNoOrgLocked({ hasLockedOrg }: WriteTransaction): void {
  if (hasLockedOrg) throw new Error("a transaction that has locked an org locks no customer: customers come first");
}
