import type { Database } from "../../database/database.ts";
import type { Caller } from "../../identity/caller.ts";
import { whenReady } from "../../scheduling/when-ready.ts";
import type { Narrowing } from "../engine/decisions/narrowing.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Snapshots } from "../snapshots/current-snapshots.ts";
import type { CheckRequest } from "./check-request.ts";
import { readCounted } from "./limited-grants.ts";
import { createRequestConditions } from "./condition-budget.ts";

/** What decisions about a member with an API key are made from. */
export interface DecisionView {
  /** The snapshot of the member's org. */
  readonly snapshot: OrgSnapshot;
  readonly check: CheckRequest;
}

/** A credential, and the head of its member's org, as of a call. */
export type ViewedCaller = Pick<
  Caller,
  | "memberId"
  | "orgId"
  | "credentialId"
  | "grantsUntil"
  | "scopes"
  | "projectId"
  | "impersonator"
  | "orgHead"
  | "recentHeads"
  | "time"
  | "provisions"
>;

/**
 * Returns what decisions about a caller are made from. Reads which role bindings count for a limited API key only now, because
 * a client can delay the body of its request after the key was authenticated.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE when the org cannot be read.
 */
export interface ViewCaller {
  (caller: ViewedCaller): DecisionView | Promise<DecisionView>;
  /** Does the same with a snapshot of the caller's org at whatever revision. */
  readonly in: (snapshot: OrgSnapshot, caller: ViewedCaller) => DecisionView | Promise<DecisionView>;
}

/** Returns how a credential narrows what its member holds; undefined if it does not. */
export function narrowingOf({
  scopes,
  projectId,
  impersonator,
}: Pick<Caller, "scopes" | "projectId" | "impersonator">): Narrowing | undefined {
  if (scopes === undefined && projectId === undefined && impersonator === undefined) return undefined;
  return { scopes, projectId, impersonatorId: impersonator?.memberId };
}

export function createViewCaller(snapshots: Snapshots, database: Database): ViewCaller {
  const viewIn = (snapshot: OrgSnapshot, caller: ViewedCaller): DecisionView | Promise<DecisionView> =>
    whenReady(readCounted(database.reads, snapshot, caller, "current"), (counted) => {
      const subject = { kind: "member", id: caller.memberId } as const;
      const narrowing = narrowingOf(caller);
      const conditions = createRequestConditions();
      const { time: now, provisions, recentHeads } = caller;
      const ofCall = { subject, now, attributes: {}, counted, narrowing, conditions, provisions, recentHeads };
      return { snapshot, check: ofCall };
    });

  const view = (caller: ViewedCaller): DecisionView | Promise<DecisionView> =>
    whenReady(snapshots.at(caller.orgId, caller.orgHead), (snapshot) => viewIn(snapshot, caller));
  return Object.assign(view, { in: viewIn });
}
