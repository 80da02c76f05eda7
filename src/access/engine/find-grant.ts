import type { OrgSnapshot } from "./org-snapshot.ts";
import type { BindingIndex } from "./binding-index.ts";
import { type Resource, customerScopeOf, orgScopeOf, projectScopeOf } from "./resource.ts";
import { scopeBit } from "./scope-table.ts";
import type { Subject } from "./subject.ts";

/** A probe that finds nothing mostly looks at what is at hand already; a cell has to be fetched. */
const probesOfCell = 8;

const fewSubjects = 32;

/** A subject by its record, which `findSubject` answers, or by its id. */
export type SubjectReference = Subject | { readonly kind: Subject["kind"]; readonly id: string };

/** The subject, if it may hold anything: a member that is ACTIVE or a group, of an org that is not deleted. */
export function activeSubject(snapshot: OrgSnapshot, reference: SubjectReference): Subject | undefined {
  if (snapshot.org.state === "DELETED") return undefined;
  const table = reference.kind === "member" ? snapshot.members : snapshot.groups;
  const record = "record" in reference ? reference.record : table.findById(reference.id);
  if (record === 0 || !table.isActive(record)) return undefined;
  return "record" in reference ? reference : { kind: reference.kind, record };
}

/**
 * A binding that gives the subject something on the resource now and that `accept` wants; 0 when there is none. `accept`
 * still has to look at the binding's role and condition.
 */
export function findGrant(
  snapshot: OrgSnapshot,
  subject: Subject,
  resource: Resource,
  now: number,
  accept: (binding: number) => boolean,
): number {
  const { reach, scopes } = snapshot;
  const count = reach.collect(subject, now);
  if (reach.scopeBits() === 0) return 0;
  // For who is in few groups it is the project that takes longest to find; for who is in many, all of these in a scope.
  const isProjectFirst = count > fewSubjects;
  return (
    (isProjectFirst && findInScope(snapshot, projectScopeOf(snapshot, resource), count, now, accept)) ||
    findInScope(snapshot, orgScopeOf(snapshot, resource), count, now, accept) ||
    findInScope(snapshot, customerScopeOf(snapshot, resource), count, now, accept) ||
    findInScope(snapshot, scopes.platform, count, now, accept) ||
    (isProjectFirst ? 0 : findInScope(snapshot, projectScopeOf(snapshot, resource), count, now, accept))
  );
}

/** @param count how many the subject's reach has found. */
function findInScope(
  { bindings, reach, scopes }: OrgSnapshot,
  scope: number,
  count: number,
  now: number,
  accept: (binding: number) => boolean,
): number {
  if (scope === 0 || (reach.scopeBits() & scopeBit(scope)) === 0) return 0;
  if (scopes.cellCountOf(scope) * probesOfCell < count) {
    for (let cell = bindings.firstCellOfScope(scope); cell !== 0; cell = bindings.nextOfScope(cell)) {
      const binding = reach.has(bindings.subjectOf(cell)) ? findInCell(bindings, cell, now, accept) : 0;
      if (binding !== 0) return binding;
    }
    return 0;
  }
  for (let index = 0; index < count; index++) {
    const cell = bindings.findCell(reach.at(index), scope);
    const binding = cell === 0 ? 0 : findInCell(bindings, cell, now, accept);
    if (binding !== 0) return binding;
  }
  return 0;
}

function findInCell(bindings: BindingIndex, cell: number, now: number, accept: (binding: number) => boolean): number {
  let binding = bindings.firstOfCell(cell);
  while (binding !== 0 && !(bindings.holdsAt(binding, now) && accept(binding))) binding = bindings.nextOfCell(binding);
  return binding;
}
