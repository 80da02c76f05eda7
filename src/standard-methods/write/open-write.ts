import { type OrgTransaction, beginWrite, endWrite } from "../../changes/write-in-org.ts";
import { beginInGroup, endInGroup } from "../../changes/write-group.ts";
import type { WriteLocks } from "../../changes/write-locks.ts";
import { isLogOfCustomer } from "../../database/org-key.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { required } from "../../errors/required.ts";
import type { WriteScope } from "../rules.ts";
import type { WriteCall } from "./write-call.ts";

/** Returns what a write of the resource at a path locks. `message` is set when the resource is created. */
export async function locksOf<Message>(
  scope: WriteScope<Message>,
  db: WriteTransaction,
  path: readonly Reference[],
  message?: Message,
): Promise<WriteLocks> {
  switch (scope.kind) {
    case "parent":
      return { org: required(path[0]) };
    case "itself":
      return { org: required(path[0]), state: "any" };
    case "fixed":
      return { org: scope.org };
    case "customer":
      return scope.locksOf(required(path[0]));
    case "each":
      return { org: await scope.find(db, path, message) };
  }
}

/**
 * Returns what a write locks that deletes or restores the resource at a path, or changes its state. How many orgs a customer has is
 * decided under the lock of the customer.
 */
export async function locksOfTransition<Message>(
  scope: WriteScope<Message>,
  db: WriteTransaction,
  path: readonly Reference[],
): Promise<WriteLocks> {
  if (scope.kind === "itself") return { org: required(path[0]), state: "any", customer: true };
  return locksOf(scope, db, path);
}

/** Opens a write: takes its locks, unless its group has them, and confirms its author under them. */
export function openWrite({ db, group, request: { author } }: WriteCall, locks: WriteLocks): Promise<OrgTransaction> {
  return group === undefined ? beginWrite(db, locks, author) : beginInGroup(group, locks, author);
}

/** Closes a write: appends what it has recorded to the change log of its org. */
export async function closeWrite({ group, written }: WriteCall, transaction: OrgTransaction): Promise<void> {
  const { org, changes } = transaction;
  // Nobody holds access by what the log of a customer tells.
  if (!isLogOfCustomer(org)) for (const change of changes) written.push({ org, change });
  if (group === undefined) await endWrite(transaction);
  else endInGroup(group, transaction);
}

/** Runs a write of something else than rows of one resource: opens it, calls `write` and closes it. */
export async function runOpen<Result>(
  call: WriteCall,
  locks: WriteLocks,
  write: (transaction: OrgTransaction) => Promise<Result>,
): Promise<Result> {
  const transaction = await openWrite(call, locks);
  const result = await write(transaction);
  await closeWrite(call, transaction);
  return result;
}
