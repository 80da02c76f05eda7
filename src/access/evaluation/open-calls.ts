// Who may make a call that is open to members without its permission: members of the org and, where an org requires an approved request of members of
// the platform, these, who ask there. The handlers show them only what is their own.
import { whenReady } from "../../scheduling/when-ready.ts";
import { findLeftOut } from "../engine/decisions/narrowing.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { patterns } from "../../paths/patterns.ts";
import { allows } from "./allows.ts";
import { type CheckRequest, subjectById } from "./check-request.ts";
import type { AccessEvaluator } from "./evaluator.ts";
import type { ResolvedTarget } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";
import { type Visibility, isForAnyOrg, unlimited } from "./visibility.ts";

const getOrg = "iam.orgs.get";

/** A call that its caller may make without the permission. */
interface AsMember {
  readonly target: ResolvedTarget;
  readonly visible: Visibility;
  readonly isAsMember: true;
}

type OpenCall = AsMember | undefined | Promise<AsMember | undefined>;

/** Authorises a call that is open to members for a caller without its permission; undefined if it may not make the call. */
export function authoriseOpen(
  evaluator: AccessEvaluator,
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  path: TargetPath,
): OpenCall {
  if (isInOrgOf(snapshot, path)) return asMember(evaluator, snapshot, check, permission, path);
  return evaluator.isOfPlatform(snapshot) ? asSupporter(evaluator, snapshot, check, permission, path) : undefined;
}

/**
 * Lets a member of the platform make a call that is open to members in an org that requires a request of it: it asks there. It must be able to get the
 * org, and its credential must not leave the call out.
 */
function asSupporter(
  evaluator: AccessEvaluator,
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  path: TargetPath,
): OpenCall {
  const { narrowing, subject } = check;
  if (narrowing?.impersonatorId !== undefined || isForAnyOrg(path)) return undefined;
  const asked = { ...check, subject: subjectById(snapshot, subject) };
  return whenReady(evaluator.resolve(snapshot, path), (target) => {
    if (target?.support === undefined || target.suspensions.length > 0) return undefined;
    if (narrowing !== undefined && findLeftOut(narrowing, permission, target.resource) !== undefined) return undefined;
    const may = allows(snapshot, { ...asked, narrowing: undefined }, getOrg, target);
    return may ? { target, visible: unlimited, isAsMember: true } : undefined;
  });
}

/** Lets a member of the org make a call that is open to members, unless the org is suspended or its credential leaves the call out. */
function asMember(
  evaluator: AccessEvaluator,
  snapshot: OrgSnapshot,
  { narrowing }: CheckRequest,
  permission: string,
  path: TargetPath,
): OpenCall {
  return whenReady(evaluator.resolve(snapshot, path), (target) => {
    if (target === undefined || target.suspensions.length > 0) return undefined;
    const isLeftOut =
      narrowing !== undefined &&
      (narrowing.impersonatorId !== undefined || findLeftOut(narrowing, permission, target.resource) !== undefined);
    return isLeftOut ? undefined : { target, visible: unlimited, isAsMember: true };
  });
}

/** Whether a path names the org of the caller, or what is in it. */
function isInOrgOf({ org: { id, name } }: OrgSnapshot, { pattern, references: [org] }: TargetPath): boolean {
  if (pattern[0] !== patterns.Org[0] || org === undefined) return false;
  return (org.by === "id" && org.value === id) || (org.by === "name" && org.value === name);
}
