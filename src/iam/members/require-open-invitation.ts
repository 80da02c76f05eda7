import type { LockedOrg } from "../../changes/author.ts";
import { stateForbids, stateOf } from "../../standard-methods/definition/lifecycle.ts";
import { memberPath } from "./message.ts";
import type { MemberRow } from "./store.ts";

/**
 * Checks that an invitation has not expired: a member that was undeleted with one that has would be deleted again at once.
 *
 * @throws ServiceError STATE_FORBIDS
 */
export function requireOpenInvitation(row: MemberRow, { lockTime }: Pick<LockedOrg, "lockTime">): void {
  if (row.invitation_expire_time === null || row.invitation_expire_time > lockTime) return;
  const path = memberPath(row);
  const [time, state] = [row.invitation_expire_time.toISOString(), stateOf(row)];
  const next = row.delete_time === null ? "set a later invitation_expire_time first" : "create another Member instead";
  const message = `the member ${path} is ${state}, and its invitation expired at ${time}, its invitation_expire_time: ${next}`;
  throw stateForbids(message, path, state);
}
