import { type Explanation, explainInSteps } from "../engine/decisions/explain-decision.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Steps } from "../../scheduling/steps.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import { type ConditionInput, conditionInputOf } from "./condition-input.ts";
import type { CheckRequest } from "./check-request.ts";
import { resolveById } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, onPlatform } from "./resolved-target.ts";

interface ExplainLimits {
  readonly maxRoles: number;
  readonly maxGrantors: number;
}

/** Explains why the subject holds a permission on a target, or what is missing. Ignores suspensions. */
export function* explainTarget(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget,
  { maxRoles, maxGrantors }: ExplainLimits,
): Steps<Explanation> {
  const { subject, now, counted } = check;
  const { resource, suspensions } = target;
  const conditionContext = conditionInputOf(snapshot, check, target);
  return yield* explainInSteps(
    snapshot,
    { subject, permission, resource, now, conditionContext, counted },
    {
      maxRoles,
      // Nothing can be granted on a suspended resource.
      maxGrantors: suspensions.length === 0 ? maxGrantors : 0,
      contextOf: (member, bindable) => grantorContext(snapshot, member, bindable, check),
    },
  );
}

/**
 * Returns the input of the conditions of a member that would bind a role on the resource. It has no attributes, because those
 * of the check belong to another call. Outside of the member's org its path is empty, so conditions that need a path do not
 * hold.
 */
function grantorContext(
  snapshot: OrgSnapshot,
  member: number,
  resource: TargetScope,
  { now, conditions }: CheckRequest,
): ConditionInput {
  const check = { subject: { kind: "member", record: member }, attributes: {}, now, conditions } as const;
  return conditionInputOf(snapshot, check, bindableTarget(snapshot, resource));
}

function bindableTarget(snapshot: OrgSnapshot, resource: TargetScope): ResolvedTarget {
  if (resource.kind === "project") return resolveById(snapshot, resource.projectId);
  return resource.kind === "org" ? resolveById(snapshot) : { ...onPlatform, resource, path: () => "" };
}
