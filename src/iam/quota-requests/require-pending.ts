import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { quotaRequestPath } from "./message.ts";
import type { QuotaRequestRow } from "./store.ts";

/**
 * @param consequence what a decided request does not allow, for the error.
 * @throws ServiceError STATE_FORBIDS when the request is decided.
 */
export function requirePending(row: QuotaRequestRow, consequence: string): void {
  if (row.state === "PENDING") return;
  const path = quotaRequestPath(row);
  throw stateForbids(`the quota request ${path} is ${row.state}: ${consequence}`, path, row.state);
}
