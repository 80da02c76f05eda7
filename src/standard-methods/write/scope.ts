import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type OrgTransaction, beginWrite, endWrite } from "../../changes/write-in-org.ts";
import type { WriteLocks } from "../../changes/write-locks.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import { beginInGroup, endInGroup } from "../../changes/write-group.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import { required } from "../../errors/required.ts";
import type { ServedResource, WriteScope } from "../rules.ts";
import type { WriteCall } from "./write-call.ts";

/** Returns what a write of the resource at a path locks. `message` is set when the resource is created. */
async function locksOf<Message>(
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
    case "each":
      return { org: await scope.find(db, path, message) };
  }
}

/** Opens a write: takes its locks, unless its group has them, and confirms its author under them. */
export function openWrite({ db, group, request: { author } }: WriteCall, locks: WriteLocks): Promise<OrgTransaction> {
  return group === undefined ? beginWrite(db, locks, author) : beginInGroup(group, locks, author);
}

/** Opens a write of the resource at a path. `message` is set when the resource is created. */
export async function openScope<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { rules: { scope } }: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  path: readonly Reference[],
  message?: MessageShape<Desc>,
): Promise<OrgTransaction> {
  return openWrite(call, await locksOf(scope, call.db, path, message));
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
  const locks = await locksOf(scope, db, path);
  return scope.kind === "itself" ? { ...locks, customer: true } : locks;
}

/** Appends the changes of a transaction to the org's change log. */
export function closeScope({ group, written }: WriteCall, transaction: OrgTransaction): void {
  for (const change of transaction.changes) written.push({ org: transaction.org, change });
  if (group === undefined) endWrite(transaction);
  else endInGroup(group, transaction);
}
