import { decide } from "../engine/decisions/decide.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { conditionInputOf } from "./condition-input.ts";
import type { CheckRequest } from "./check-request.ts";
import { requireExact } from "./limited-grants.ts";
import { type ResolvedTarget, everywhere } from "./resolved-target.ts";

/** The permissions to lift a suspension. A subject that holds one keeps its access to the suspended resource. */
export const lifting = { org: "iam.orgs.activate", project: "iam.projects.activate" } as const;

/** The permissions that a suspension does not affect, on the suspended org or project itself. */
const readingItself = { org: "iam.orgs.get", project: "iam.projects.get" } as const;

/**
 * Reports whether the subject, which is in the snapshot's org, holds the permission on the target and no suspension denies it.
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
  const { resource, suspended, isItself } = target;
  const { subject, now, counted, narrowing } = check;
  requireExact(snapshot, counted);
  const asked = {
    subject,
    permission,
    resource,
    now,
    conditionContext: conditionInputOf(snapshot, check, target),
    counted,
    narrowing,
  };
  if (!decide(snapshot, asked)) return false;
  if (narrowing?.impersonatorId !== undefined) {
    const ofImpersonator = impersonating(check, narrowing.impersonatorId);
    if (!allows(snapshot, ofImpersonator, permission, target)) return false;
  }
  if (suspended === undefined || (isItself && permission === readingItself[suspended])) return true;
  return decide(snapshot, { ...asked, permission: lifting[suspended] });
}

/** Returns a check of what the impersonator of the subject holds. */
export function impersonating(check: CheckRequest, memberId: string): CheckRequest {
  return { ...check, subject: { kind: "member", id: memberId }, narrowing: undefined };
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
  const wanted = where === "in orgs" ? [permission, lifting.org, lifting.project] : [permission];
  return wanted.every((each) => allows(snapshot, check, each, everywhere));
}
