import { decide } from "../engine/decide.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { conditionContextOf } from "./condition-context.ts";
import type { Question } from "./question.ts";
import { type ResolvedTarget, everywhere } from "./resolved-target.ts";

/** Who may lift a suspension has access all the same. */
export const lifting = { org: "iam.orgs.activate", project: "iam.projects.activate" } as const;

/** What a suspended org or project itself can still be asked. */
const readingItself = { org: "iam.orgs.get", project: "iam.projects.get" } as const;

/** Whether the subject, of the snapshot's org, holds the permission on the target, and no suspension stands in its way. */
export function allows(snapshot: OrgSnapshot, question: Question, permission: string, target: ResolvedTarget): boolean {
  const { resource, suspended, isItself } = target;
  const { subject, now } = question;
  const asked = {
    subject,
    permission,
    resource,
    now,
    conditionContext: conditionContextOf(snapshot, question, target),
  };
  if (!decide(snapshot, asked)) return false;
  if (suspended === undefined || (isItself && permission === readingItself[suspended])) return true;
  return decide(snapshot, { ...asked, permission: lifting[suspended] });
}

/** Whether what is granted on the platform is enough, be a target there, suspended or neither. */
export function allowsEverywhere(
  snapshot: OrgSnapshot,
  question: Question,
  permission: string,
  where: "anywhere" | "in orgs",
): boolean {
  const { scopes } = snapshot;
  if (scopes.cellCountOf(scopes.platform) === 0) return false;
  const wanted = where === "in orgs" ? [permission, lifting.org, lifting.project] : [permission];
  return wanted.every((each) => allows(snapshot, question, each, everywhere));
}
