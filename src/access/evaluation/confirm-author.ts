import type { Author } from "../../changes/author.ts";
import type { Caller } from "../../identity/caller.ts";
import { refreshCaller } from "../../identity/refresh-caller.ts";
import { impersonatePermission, impersonatorOf, pathOfMember } from "../tokens/impersonation.ts";
import type { Authorise, Requirement } from "./authorise.ts";
import type { TargetPath } from "./target-path.ts";

/**
 * A decision about a call: what it required, and the path, by the ids on which the call was authorised, or as the write reads it
 * again.
 */
export interface Decision {
  readonly requirement: Requirement;
  readonly path: TargetPath;
  /** Whether it is about one item of a batch. A batch can lock an org for each of them. */
  readonly isOfItem?: boolean;
}

const requiredToImpersonate: Requirement = { permission: impersonatePermission, listVisibility: "never" };

/** Creates the function that makes the decisions about a call again, by what its caller holds then. */
export type ConfirmOf = (caller: Caller, decisions: readonly Decision[]) => Author["confirm"];

/** @param authorise waits for no other call, because the transaction in which it decides holds locks. */
export function createConfirmOf(authorise: Authorise): ConfirmOf {
  return (caller, decisions) => createConfirm(authorise, caller, decisions);
}

function createConfirm(authorise: Authorise, caller: Caller, decisions: readonly Decision[]): Author["confirm"] {
  let last: { readonly db: unknown; readonly orgId: string } | undefined;
  let items: { readonly db: unknown; readonly orgOf: Map<Decision, string | undefined> } | undefined;
  return async (db, locked) => {
    // Some batches lock the same org for each item.
    if (locked !== undefined && last?.db === db && last.orgId === locked.id) return;
    last = locked && { db, orgId: locked.id };
    const now = await refreshCaller(db, caller, locked);
    const impersonator = impersonatorOf(now);
    if (impersonator !== undefined) await authorise(impersonator, requiredToImpersonate, pathOfMember(now));
    const { decide } = await authorise.authoriserOf(now);
    // The first lock has all decisions made again. So that a batch does not make all for each item, a later one has those about
    // items in the org that it locks.
    const known = items?.db === db ? items.orgOf : undefined;
    const orgOf = known ?? new Map<Decision, string | undefined>();
    for (const decision of decisions) {
      if (decision.isOfItem === true && known !== undefined && known.get(decision) !== locked?.id) continue;
      const { target } = await decide(decision.requirement, decision.path);
      if (decision.isOfItem === true)
        orgOf.set(decision, "orgId" in target.resource ? target.resource.orgId : undefined);
    }
    items = { db, orgOf };
  };
}
