import { type Explanation, explain } from "../engine/explain.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Resource } from "../engine/resource.ts";
import { type LazyConditionContext, conditionContextOf } from "./condition-context.ts";
import type { Question } from "./question.ts";
import { resolveById } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, onPlatform } from "./resolved-target.ts";

interface ExplainLimits {
  readonly maxRoles: number;
  readonly maxGrantors: number;
}

/** Why the subject holds a permission on a target, or what is missing. Suspensions do not count. */
export function explainTarget(
  snapshot: OrgSnapshot,
  question: Question,
  permission: string,
  target: ResolvedTarget,
  { maxRoles, maxGrantors }: ExplainLimits,
): Explanation {
  const { subject, now } = question;
  const { resource, suspended } = target;
  const conditionContext = conditionContextOf(snapshot, question, target);
  return explain(
    snapshot,
    { subject, permission, resource, now, conditionContext },
    {
      maxRoles,
      // Nothing can be granted where something is suspended.
      maxGrantors: suspended === undefined ? maxGrantors : 0,
      contextOf: (member, bindable) => grantorContext(snapshot, member, bindable, now),
    },
  );
}

/**
 * What the conditions of a member are asked about who would bind a role on the resource. There are no attributes but those of
 * its own call, and outside of its org no path, so it holds nothing there that asks for one.
 */
function grantorContext(snapshot: OrgSnapshot, member: number, resource: Resource, now: number): LazyConditionContext {
  const question = { subject: { kind: "member", record: member }, attributes: {}, now } as const;
  const target = { ...onPlatform, resource, path: () => pathInOrg(snapshot, resource) };
  return conditionContextOf(snapshot, question, target);
}

function pathInOrg(snapshot: OrgSnapshot, resource: Resource): string {
  if (resource.kind === "project") return resolveById(snapshot, resource.projectId).path();
  return resource.kind === "org" ? resolveById(snapshot).path() : "";
}
