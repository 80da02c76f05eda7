import { decide } from "../engine/decisions/decide.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { conditionInputOf } from "./condition-input.ts";
import type { CheckRequest } from "./check-request.ts";
import { askedFor } from "./provisioning.ts";
import { requireExact } from "./limited-grants.ts";
import { decidedOn } from "./support-access.ts";
import { type DecisionTarget, type ResolvedTarget, type Suspension, everywhere } from "./resolved-target.ts";

/** The permissions to lift a suspension. A subject that holds one on the suspended resource keeps its access to it. */
export const lifting = { org: "iam.orgs.activate", project: "iam.projects.activate" } as const;

/** The permissions that a suspension does not affect, on the suspended org or project itself. */
const readingItself = { org: "iam.orgs.get", project: "iam.projects.get" } as const;

/**
 * Reports whether the subject, which is in the snapshot's org, holds the permission on the target and no suspension denies it: in a
 * suspended project of a suspended org, it must be able to lift both suspensions.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE when the snapshot is ahead of what counts for a limited API key, LIMIT_EXCEEDED when
 *   the conditions cost too much.
 */
export function allows(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget,
): boolean {
  requireExact(snapshot, check.counted);
  if (!holds(snapshot, check, permission, target)) return false;
  return findDenying(snapshot, check, permission, target) === undefined;
}

/** Returns the outermost suspension that denies a permission to the subject; undefined if none does. */
export function findDenying(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  { suspensions }: ResolvedTarget,
): Suspension | undefined {
  return suspensions.find(
    (suspension) =>
      !isUnaffected(permission, suspension) && !holds(snapshot, check, lifting[suspension.kind], suspension),
  );
}

/** Calls `visit` with each permission that `allows` has found to be held, by the subject and who impersonates it. */
export function visitNeeded(
  check: CheckRequest,
  permission: string,
  { suspensions, ...target }: ResolvedTarget,
  visit: (check: CheckRequest, permission: string, target: DecisionTarget) => void,
): void {
  const impersonatorId = check.narrowing?.impersonatorId;
  const checks = impersonatorId === undefined ? [check] : [check, impersonating(check, impersonatorId)];
  for (const each of checks) {
    visit(each, permission, target);
    for (const suspension of suspensions) {
      if (!isUnaffected(permission, suspension)) visit(each, lifting[suspension.kind], suspension);
    }
  }
}

/** Reports whether a suspension leaves a permission as it is. */
function isUnaffected(permission: string, { kind, isItself }: Suspension): boolean {
  return isItself && permission === readingItself[kind];
}

/** Reports whether the subject, and who impersonates it, hold a permission on a target, whatever is suspended. */
function holds(snapshot: OrgSnapshot, check: CheckRequest, permission: string, target: DecisionTarget): boolean {
  const asked = askedFor(check, permission);
  const { subject, now, counted, narrowing } = check;
  const resource = decidedOn(snapshot, check, permission, target);
  const conditionContext = conditionInputOf(snapshot, check, target);
  if (!decide(snapshot, { subject, permission: asked, resource, now, conditionContext, counted, narrowing }))
    return false;
  if (narrowing?.impersonatorId === undefined) return true;
  return holds(snapshot, impersonating(check, narrowing.impersonatorId), permission, target);
}

export function impersonating(check: CheckRequest, memberId: string): CheckRequest {
  return { ...check, subject: { kind: "member", id: memberId }, narrowing: undefined };
}

/** The permissions on the platform that `allowsEverywhere` needs. */
export function neededEverywhere(permission: string, where: "anywhere" | "in orgs"): readonly string[] {
  return where === "in orgs" ? [permission, lifting.org, lifting.project] : [permission];
}

/**
 * Reports whether grants on the platform alone allow the permission on every target, whether or not it exists. With `in orgs`,
 * they must also allow it on suspended targets.
 */
export function allowsEverywhere(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  where: "anywhere" | "in orgs",
): boolean {
  const { scopes } = snapshot;
  if (scopes.cellCountOf(scopes.platform) === 0) return false;
  return neededEverywhere(permission, where).every((each) => allows(snapshot, check, each, everywhere));
}
