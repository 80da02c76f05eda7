import { type Explanation, explain } from "../engine/explain.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { conditionContextOf } from "./condition-context.ts";
import { granterContext } from "./granter-context.ts";
import type { Question } from "./question.ts";
import type { ResolvedTarget } from "./resolved-target.ts";

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
      contextOf: (member, bindable) => granterContext(snapshot, member, bindable, now),
    },
  );
}
