// Writes that use the ledger of quotas: they lock the customer of their org before the org.
import type { Message } from "@bufbuild/protobuf";
import { type OrgTransaction, beginWrite } from "../changes/write-in-org.ts";
import { beginInGroup } from "../changes/write-group.ts";
import { lockCustomersOf } from "../quotas/lock-customers-of.ts";
import type { OneReference, Reference } from "../paths/parse-path.ts";
import { closeScope } from "../standard-methods/write/scope.ts";
import { type WriteCall, type WriteRequest, type WriteRunner, runWrite } from "../standard-methods/write/write-call.ts";

/** Returns the same with groups of writes that lock the customer first: groups for both kinds would keep other orgs waiting. */
export function groupLedgerWrites<Runner extends WriteRunner>(runner: Runner): Runner {
  return { ...runner, writeGroups: runner.writeGroups.lockingBefore((db, org) => lockCustomersOf(db, [[org]])) };
}

/**
 * Runs a write in an org, whatever the state of the org, under the locks of its customer and itself. Those that wait for the same
 * org share a transaction.
 *
 * @param runner as `groupLedgerWrites` returns it.
 * @throws ServiceError RESOURCE_NOT_FOUND, PERMISSION_DENIED or TOKEN_INVALID
 */
export function runLedgerWrite(
  runner: WriteRunner,
  orgId: string,
  request: WriteRequest,
  write: (transaction: OrgTransaction) => Promise<Message>,
): Promise<Message> {
  const org = { by: "id", value: orgId } as const;
  return runWrite(runner, { ...request, org, joinsGroups: true }, async (call) => {
    const transaction = await beginLedgerWrite(call, org);
    const answer = await write(transaction);
    closeScope(call, transaction);
    return answer;
  });
}

/** Locks the customer of the org of a path for a write, with the next statement, unless its group has. To be called before the org is locked. */
export function lockCustomerFor({ db, group }: WriteCall, path: readonly Reference[]): void {
  if (group === undefined) lockCustomersOf(db, [path]);
}

function beginLedgerWrite(call: WriteCall, org: OneReference): Promise<OrgTransaction> {
  const { db, group, request } = call;
  lockCustomerFor(call, [org]);
  return group === undefined ? beginWrite(db, org, request.author, "any") : beginInGroup(group, request.author, "any");
}
