import type { ConditionContext } from "../conditions.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { Resource } from "../engine/resource.ts";
import { subjectPathIn } from "../snapshots/snapshot-paths.ts";
import type { Question } from "./question.ts";
import type { ResolvedTarget } from "./resolved-target.ts";

/** What conditions are asked about; made when there is one. */
export type LazyConditionContext = () => ConditionContext;

export function conditionContextOf(
  snapshot: OrgSnapshot,
  { subject, attributes, now }: Question,
  target: ResolvedTarget,
): LazyConditionContext {
  return () => ({
    request: { time: new Date(now) },
    resource: { path: target.path(), labels: labelsOf(snapshot, target.resource) },
    subject: { path: subjectPathIn(snapshot, subject), type: subject.kind },
    context: attributes,
  });
}

/** The labels of the project or org. */
function labelsOf({ labels, org }: OrgSnapshot, resource: Resource): Readonly<Record<string, string>> {
  if (resource.kind === "project") return labels.of(resource.projectId);
  return resource.kind === "org" && resource.orgId === org.id ? labels.of(org.id) : {};
}
