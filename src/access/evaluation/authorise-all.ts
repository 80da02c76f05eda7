// Authorises questions about several paths at once.
import type { Caller } from "../../identity/caller.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { allowsEverywhere, neededEverywhere } from "./allows.ts";
import type { DecisionView } from "./caller-view.ts";
import type { CheckRequest } from "./check-request.ts";
import type { AccessEvaluator } from "./evaluator.ts";
import { isOnPlatform } from "./open-calls.ts";
import { everywhere } from "./resolved-target.ts";
import { type SupportRead, findSupported } from "./support-access.ts";
import type { TargetPath } from "./target-path.ts";

/** What a call asks about. */
export interface AskedPaths {
  /** The caller must hold the permission on each of them. */
  readonly paths: readonly TargetPath[];
  /** Orgs whose members and groups it asks about, of which the handler decides. */
  readonly orgs: readonly TargetPath[];
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
    const isEverywhere = usesEverywhere(evaluator, snapshot, check, permission);
    const decided = isEverywhere ? await findGuarded(evaluator, snapshot, check, paths) : paths;
    const reads: (SupportRead | undefined)[] = [];
    for (const path of decided) {
      const slice = slices.next();
      if (slice !== undefined) await slice;
      const target =
        (await evaluator.resolveAllowed(snapshot, check, permission, path)) ??
        (await deny(snapshot, check, permission, path, slices));
      reads.push(findSupported(snapshot, check, permission, target));
    }
    if (isOnPlatform(snapshot)) reads.push(...(await findReads(evaluator, snapshot, check, permission, orgs)));
    return reads.filter((read) => read !== undefined);
  };
}

/** Whether grants on the platform allow a permission on all that is in orgs. What gives it is recorded as used. */
function usesEverywhere(
  { recordUse }: AccessEvaluator,
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
): boolean {
  if (!allowsEverywhere(snapshot, check, permission, "in orgs")) return false;
  for (const each of neededEverywhere(permission, "in orgs")) recordUse(snapshot, check, each, everywhere);
  return true;
}

/** Returns those of several paths that lead to orgs in which members of the platform need an approved request. Each org is looked up once. */
async function findGuarded(
  evaluator: AccessEvaluator,
  snapshot: OrgSnapshot,
  check: CheckRequest,
  paths: readonly TargetPath[],
): Promise<readonly TargetPath[]> {
  if (!(await evaluator.hasGuardedOrgs(check))) return [];
  const tops = new Map<string, Promise<boolean>>();
  const isGuarded = ({ pattern, references }: TargetPath): Promise<boolean> => {
    const top = { pattern: pattern.slice(0, 1), references: references.slice(0, 1) };
    const key = JSON.stringify(top);
    const found =
      tops.get(key) ?? Promise.resolve(evaluator.resolve(snapshot, top)).then((at) => at?.support !== undefined);
    tops.set(key, found);
    return found;
  };
  const guarded = await Promise.all(paths.map(isGuarded));
  return paths.filter((_path, index) => guarded[index]);
}

/** Returns what is read with approved requests by asking about these paths. */
async function findReads(
  evaluator: AccessEvaluator,
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  paths: readonly TargetPath[],
): Promise<readonly SupportRead[]> {
  const guarded = await findGuarded(evaluator, snapshot, check, paths);
  const targets = await Promise.all(guarded.map(async (path) => evaluator.resolve(snapshot, path)));
  const reads = targets.map((target) => target && findSupported(snapshot, check, permission, target));
  return reads.filter((read) => read !== undefined);
}
