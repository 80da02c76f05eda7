import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { accessRequestPath, askingMemberPath } from "./message.ts";
import type { AccessRequestRow } from "./store.ts";

/**
 * @param consequence what a request in another state does not allow, for the error.
 * @throws ServiceError STATE_FORBIDS when the request is in another state.
 */
export function requireState(row: AccessRequestRow, state: "PENDING" | "APPROVED", consequence: string): void {
  if (row.current_state === state) return;
  const path = accessRequestPath(row);
  throw stateForbids(`the access request ${path} is ${row.current_state}: ${consequence}`, path, row.current_state);
}

/** @throws ServiceError STATE_FORBIDS when the member that asks can do nothing with what it would be granted. */
export function requireEligible(row: AccessRequestRow): void {
  const who = row.supporter_id === null ? "member" : "supporter";
  const state = row[`${who}_delete_time`] === null ? (row[`${who}_state`] ?? "DELETED") : "DELETED";
  if (state === "ACTIVE") return;
  const path = askingMemberPath(row);
  throw stateForbids(
    `the member ${path} that asks is ${state}: it can be granted access once it is ACTIVE`,
    path,
    state,
  );
}
