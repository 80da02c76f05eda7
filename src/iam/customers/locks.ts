import type { WriteLocks } from "../../changes/write-locks.ts";
import type { Installation } from "../../identity/installation.ts";
import type { Reference } from "../../paths/parse-path.ts";

/** Returns what a write locks that changes a customer: its change is in the log of the customer, or else in that of the org `system`. */
export function locksOfCustomer(
  { customerLogs, systemOrgId }: Pick<Installation, "customerLogs" | "systemOrgId">,
  customer: Reference,
): WriteLocks {
  return customerLogs ? { logOfCustomer: customer } : { org: { by: "id", value: systemOrgId }, changes: customer };
}
