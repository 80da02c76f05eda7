import type { AuthorHead, ConfirmAuthor } from "../../changes/author.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import type { Caller } from "../../identity/caller.ts";
import { refreshCaller, selectCaller } from "../../identity/refresh-caller.ts";
import { impersonatePermission, impersonatorOf, pathOfMember } from "../tokens/impersonation.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { Authorise, Requirement } from "./authorise.ts";
import type { ResolvedTarget } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";

/** A decision about a call: what it required, and the path, by the ids on which the call was authorised. */
export interface Decision {
  readonly requirement: Requirement;
  readonly path: TargetPath;
  /** For a batch: what its items require if the path does not decide for them, which may be so only later. */
  readonly items?: readonly ItemDecision[];
}

export interface ItemDecision extends Decision {
  readonly index: number;
}

const requiredToImpersonate: Requirement = { permission: impersonatePermission, listVisibility: "never" };

/**
 * Creates the function that makes the decisions about a call again, by what its caller holds then.
 *
 * @param isJoined whether the call writes in the transaction of another one.
 */
export type ConfirmOf = (caller: Caller, decisions: readonly Decision[], isJoined?: boolean) => ConfirmAuthor;

/** @param slices those of calls that hold what others wait for: the transaction in which a call is confirmed has locks. */
export function createConfirmOf(authorise: Authorise, slices: CallSlices): ConfirmOf {
  return (caller, decisions, isJoined = false) => createConfirm(authorise, slices, caller, decisions, isJoined);
}

function createConfirm(
  authorise: Authorise,
  slices: CallSlices,
  caller: Caller,
  decisions: readonly Decision[],
  isJoined: boolean,
): ConfirmAuthor {
  let last: { readonly db: unknown; readonly orgId: string; head?: AuthorHead } | undefined;
  let itemsDiffer = false;
  const confirm: ConfirmAuthor = async (db, locked, item, found) => {
    // Some batches lock the same org for each item.
    const isSame = locked !== undefined && last?.db === db && last.orgId === locked.id;
    if (isSame && (item === undefined || !itemsDiffer)) return last?.head;
    last = locked && { db, orgId: locked.id };
    itemsDiffer = false;
    const now = await refreshCaller(db, caller, locked, found);
    const head = { ...now.orgHead, now: now.time };
    if (last !== undefined) last.head = head;
    const impersonator = impersonatorOf(now);
    if (impersonator !== undefined) {
      await authorise(impersonator, requiredToImpersonate, pathOfMember(now), slices);
    }
    const authoriser = await authorise.authoriserOf(now, slices);
    const decide = async (requirement: Requirement, path: TargetPath): Promise<ResolvedTarget> => {
      const { target } = await authoriser.decide(requirement, path);
      if (isJoined) authoriser.requireDecided(requirement.permission, path, target);
      return target;
    };
    for (const { requirement, path, items = [] } of decisions) {
      const target = await decide(requirement, path);
      const [first] = items;
      if (first === undefined || !authoriser.mayDifferInside(requirement.permission, target, first.path.pattern))
        continue;
      itemsDiffer = true;
      for (const { index, requirement: ofItem, path: at } of items) {
        if (item === undefined || item === index) await decide(ofItem, at);
      }
    }
    return head;
  };
  const elsewhere = orgElsewhere(caller, decisions);
  return Object.assign(confirm, {
    readWithNext: (db: WriteTransaction) =>
      elsewhere && db.readWithNext(selectCaller(db, caller, elsewhere.by === "id" ? elsewhere.value : undefined)),
  });
}

/** Returns the org of what a call was authorised on, if that is another one than the caller's. */
function orgElsewhere({ orgId }: Caller, [decision]: readonly Decision[]): Reference | undefined {
  if (decision?.path.pattern[0] !== "orgs") return undefined;
  const [org] = decision.path.references;
  // The caller's own org would have been found by its name.
  return org?.by === "name" || (org?.by === "id" && org.value !== orgId) ? org : undefined;
}
