import { type CountedBindings, isCounted } from "./counted-bindings.ts";
import { type SubjectReference, activeSubject, findGrant } from "./find-grant.ts";
import { type Narrowing, findLeftOut } from "./narrowing.ts";
import type { OrgSnapshot } from "../org-snapshot.ts";
import type { TargetScope } from "./target-scope.ts";

export interface AccessQuery {
  readonly subject: SubjectReference;
  readonly permission: string;
  readonly resource: TargetScope;
  /** The database's clock, in milliseconds. */
  readonly now: number;
  /** The input of conditions. Conditions must not query the snapshot. */
  readonly conditionContext: unknown;
  readonly counted: CountedBindings;
  /** How the credential of the subject narrows what it holds. */
  readonly narrowing?: Narrowing | undefined;
}

/** Reports whether the subject, which is in the snapshot's org, has the permission on the resource. */
export function decide(snapshot: OrgSnapshot, query: AccessQuery): boolean {
  const { narrowing } = query;
  if (narrowing !== undefined && findLeftOut(narrowing, query.permission, query.resource) !== undefined) return false;
  const subject = activeSubject(snapshot, query.subject);
  if (subject === undefined) return false;
  const { bindings, roles } = snapshot;
  const permission = roles.permissions.find(query.permission);
  const { conditionContext, counted } = query;
  // Conditions come last: whatever they cost, they keep nobody from what is granted unconditionally.
  let conditional: number[] | undefined;
  const grants = (binding: number): boolean => {
    if (!roles.has(bindings.roleOf(binding), permission) || !isCounted(snapshot, counted, binding)) return false;
    if (!bindings.isConditional(binding)) return true;
    conditional ??= [];
    conditional.push(binding);
    return false;
  };
  if (findGrant(snapshot, subject, query.resource, query.now, grants) !== 0) return true;
  return conditional?.some((binding) => bindings.conditionHolds(binding, conditionContext)) ?? false;
}
