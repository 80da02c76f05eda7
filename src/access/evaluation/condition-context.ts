import type { ConditionContext } from "../conditions/compile-condition.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import { subjectPathIn } from "../snapshots/snapshot-paths.ts";
import type { CheckRequest } from "./check-request.ts";
import type { ResolvedTarget } from "./resolved-target.ts";

/** Returns the input of conditions, which is built only if there is a condition. */
export type LazyConditionContext = () => ConditionContext;

/** What conditions see of a check. */
type ConditionCheck = Omit<CheckRequest, "counted">;

export function conditionContextOf(
  snapshot: OrgSnapshot,
  { subject, attributes, now }: ConditionCheck,
  target: ResolvedTarget,
): LazyConditionContext {
  return () => ({
    request: { time: new Date(now) },
    resource: { path: target.path(), labels: labelsOf(snapshot, target.resource) },
    subject: { path: subjectPathIn(snapshot, subject), type: subject.kind },
    context: attributes,
  });
}

/** Returns the labels of the project or org; empty for any other resource. */
function labelsOf({ labels, org }: OrgSnapshot, resource: TargetScope): Readonly<Record<string, string>> {
  if (resource.kind === "project") return labels.of(resource.projectId);
  return resource.kind === "org" && resource.orgId === org.id ? labels.of(org.id) : {};
}
