import { type Allowed, type Denied, explainInSteps } from "../engine/decisions/explain-decision.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Steps } from "../../scheduling/steps.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import { type ConditionInput, conditionInputOf } from "./condition-input.ts";
import type { CheckRequest } from "./check-request.ts";
import { createRequestConditions } from "./condition-budget.ts";
import { findFalseParts } from "./find-false-parts.ts";
import { resolveById } from "./resolve-in-snapshot.ts";
import { decidedOn } from "./support-access.ts";
import { type ResolvedTarget, onPlatform } from "./resolved-target.ts";

interface ExplainLimits {
  readonly maxUnmet: number;
  readonly maxRoles: number;
  readonly maxGrantors: number;
}

/** An explanation, with what is not true of each condition that does not hold, in the order of `unmet`. */
export type ExplainedTarget = Allowed | (Denied & { readonly falseParts: readonly (readonly string[])[] });

/** Explains why the subject holds a permission on a target, or what is missing. Ignores suspensions. */
export function* explainTarget(
  snapshot: OrgSnapshot,
  check: CheckRequest,
  permission: string,
  target: ResolvedTarget,
  { maxGrantors, ...limits }: ExplainLimits,
): Steps<ExplainedTarget> {
  const { subject, now, counted } = check;
  const { suspensions } = target;
  const resource = decidedOn(snapshot, check, permission, target);
  const conditionContext = conditionInputOf(snapshot, check, target);
  const query = { subject, permission, resource, now, conditionContext, counted };
  // What those who could grant cost must not keep the subject's own conditions from being looked at again.
  const ofGrantors = { ...check, conditions: createRequestConditions() };
  const contextOf = (member: number | undefined, bindable: TargetScope): ConditionInput =>
    grantorContext(snapshot, member, bindable, ofGrantors);
  const explain = (grantors: number) =>
    explainInSteps(snapshot, query, { ...limits, maxGrantors: grantors, contextOf });
  // Nothing can be granted on a suspended resource.
  const explanation = yield* orWithoutGrantors(explain, suspensions.length === 0 ? maxGrantors : 0);
  if (explanation.allowed) return explanation;
  const falseParts: (readonly string[])[] = [];
  for (const { condition } of explanation.unmet) {
    // To parse a long condition takes the time of a step.
    yield;
    falseParts.push(findFalseParts(condition, conditionContext));
  }
  return { ...explanation, falseParts };
}

/** Explains without those who could grant if the conditions of one of these cost too much: the subject is not to blame for them. */
function* orWithoutGrantors<Explanation>(
  explain: (maxGrantors: number) => Steps<Explanation>,
  maxGrantors: number,
): Steps<Explanation> {
  try {
    return yield* explain(maxGrantors);
  } catch (error) {
    if (maxGrantors === 0 || !(error instanceof ServiceError) || error.reason !== "LIMIT_EXCEEDED") throw error;
    return yield* explain(0);
  }
}

/**
 * Returns the input of the conditions of a member that would bind a role on the resource. It has no attributes, because those
 * of the check belong to another call. Outside of the member's org its path is empty, so conditions that need a path do not
 * hold.
 */
function grantorContext(
  snapshot: OrgSnapshot,
  member: number | undefined,
  resource: TargetScope,
  { now, conditions }: CheckRequest,
): ConditionInput {
  const subject = member === undefined ? undefined : ({ kind: "member", record: member } as const);
  const check = { subject, attributes: {}, now, conditions };
  return conditionInputOf(snapshot, check, bindableTarget(snapshot, resource));
}

function bindableTarget(snapshot: OrgSnapshot, resource: TargetScope): ResolvedTarget {
  if (resource.kind === "project") return resolveById(snapshot, resource.projectId);
  return resource.kind === "org" ? resolveById(snapshot) : { ...onPlatform, resource, path: () => "" };
}
