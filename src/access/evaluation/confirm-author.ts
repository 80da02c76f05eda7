import type { Author } from "../../changes/author.ts";
import type { Caller } from "../../identity/caller.ts";
import { refreshCaller } from "../../identity/refresh-caller.ts";
import { impersonatePermission, impersonatorOf, pathOfMember } from "../tokens/impersonation.ts";
import type { Authorise, Requirement } from "./authorise.ts";
import type { TargetPath } from "./target-path.ts";

/** A decision about a call: what it required, and the path, by the ids on which the call was authorised. */
export interface Decision {
  readonly requirement: Requirement;
  readonly path: TargetPath;
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
  return async (db, locked) => {
    // Some batches lock the same org for each item.
    if (locked !== undefined && last?.db === db && last.orgId === locked.id) return;
    last = locked && { db, orgId: locked.id };
    const now = await refreshCaller(db, caller, locked);
    const impersonator = impersonatorOf(now);
    if (impersonator !== undefined) await authorise(impersonator, requiredToImpersonate, pathOfMember(now));
    const { decide } = await authorise.authoriserOf(now);
    for (const { requirement, path } of decisions) await decide(requirement, path);
  };
}
