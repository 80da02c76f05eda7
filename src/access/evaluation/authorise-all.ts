// Authorises questions about several paths at once.
import type { Caller } from "../../identity/caller.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allowsEverywhere, neededEverywhere } from "./allows.ts";
import type { DecisionView } from "./caller-view.ts";
import type { CheckRequest } from "./check-request.ts";
import type { AccessEvaluator } from "./evaluator.ts";
import { type ResolvedTarget, everywhere } from "./resolved-target.ts";
import { type SupportRead, findSupported } from "./support-access.ts";
import { isOperating } from "./support-permissions.ts";
import type { TargetPath } from "./target-path.ts";

/** What a call asks about. */
interface AskedPaths {
  /** The caller must hold the permission on each of them. */
  readonly paths: readonly TargetPath[];
  /** Returns the orgs whose members and groups it asks about, of which the handler decides. Few callers need them. */
  readonly orgs: () => readonly TargetPath[];
}

/**
 * Checks that the caller holds a permission on each of several paths. Returns what it reads with approved requests for support access.
 *
 * @throws ServiceError PERMISSION_DENIED
 */
export type AuthoriseAll = (
  caller: Caller,
  permission: string,
  asked: AskedPaths,
  slices: CallSlices,
) => Promise<readonly SupportRead[]>;

type Deny = (
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  path: TargetPath,
  slices: CallSlices,
) => Promise<never>;

type View = (caller: Caller, slices: CallSlices) => DecisionView | Promise<DecisionView>;

export function createAuthoriseAll(view: View, evaluator: AccessEvaluator, deny: Deny): AuthoriseAll {
  return async (caller, permission, { paths, orgs }, slices) => {
    const { snapshot, check } = await view(caller, slices);
    if (usesEverywhere(evaluator, snapshot, check, permission)) return [];
    const reads: SupportRead[] = [];
    const note = (target: ResolvedTarget | undefined): void => {
      const read = target && findSupported(snapshot, check, permission, target);
      if (read !== undefined) reads.push(read);
    };
    for (const path of paths) {
      const slice = slices.next();
      if (slice !== undefined) await slice;
      const target =
        (await evaluator.resolveAllowed(snapshot, check, permission, path)) ??
        (await deny(snapshot, check, permission, path, slices));
      note(target);
    }
    if (evaluator.isOfPlatform(snapshot) && !isOperating(permission, false)) {
      for (const path of orgs()) note(await evaluator.resolve(snapshot, path));
    }
    return reads;
  };
}

/** Whether grants on the platform allow a permission on all that is in orgs, whatever customers require. What gives it is recorded as used. */
function usesEverywhere(
  { recordUse }: AccessEvaluator,
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
): boolean {
  if (!isOperating(permission, false) || !allowsEverywhere(snapshot, check, permission, "in orgs")) return false;
  for (const each of neededEverywhere(permission, "in orgs")) recordUse(snapshot, check, each, everywhere);
  return true;
}
