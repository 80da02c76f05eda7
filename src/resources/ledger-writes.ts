// Writes that use the ledger of quotas: they lock the customer of their org before the org.
import type { Message } from "@bufbuild/protobuf";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { Reference } from "../paths/parse-path.ts";
import { runOpen } from "../standard-methods/write/open-write.ts";
import type { GroupLocks } from "../standard-methods/write/write-groups.ts";
import { type WriteRequest, type WriteRunner, runWrite } from "../standard-methods/write/write-call.ts";

/** Returns the locks of a write that uses the ledger. */
export const ledgerLocks = <Org extends Reference>(org: Org) => ({ org, customer: true }) as const;

/** Returns a write that uses the ledger, and may share a transaction with others. */
export function shareLedgerWrite(write: WriteRequest): WriteRequest {
  return { ...write, shared: write.org && ledgerLocks(write.org) };
}

/**
 * Runs a write in an org, whatever the state of the org, under the locks of its customer and itself. Those that wait for the same
 * org share a transaction.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND, PERMISSION_DENIED or TOKEN_INVALID
 */
export function runLedgerWrite<Answer extends Message>(
  runner: WriteRunner,
  orgId: string,
  request: WriteRequest,
  write: (transaction: OrgTransaction) => Promise<Answer>,
): Promise<Answer> {
  const org = { by: "id", value: orgId } as const;
  const locks: GroupLocks = { ...ledgerLocks(org), state: "any" };
  return runWrite(runner, { ...request, org, shared: locks }, (call) => runOpen(call, locks, write));
}
