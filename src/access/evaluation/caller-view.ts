import type { Caller } from "../../identity/caller.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Snapshots } from "../snapshots/snapshots.ts";
import type { CheckRequest } from "./check-request.ts";

/** What decisions about a member are made from. */
export interface DecisionView {
  /** The snapshot of the member's org. */
  readonly snapshot: OrgSnapshot;
  readonly check: CheckRequest;
}

/**
 * Returns what decisions about a caller are made from.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE when the org cannot be read.
 */
export type ViewCaller = (caller: Caller) => Promise<DecisionView>;

export function createViewCaller(snapshots: Snapshots): ViewCaller {
  return async (caller) => {
    const { orgId, memberId, orgHead, time: now } = caller;
    const snapshot = await snapshots.at(orgId, orgHead);
    return { snapshot, check: { subject: { kind: "member", id: memberId }, now, attributes: {}, counted: "all" } };
  };
}
