import type { OrgSnapshot } from "../org-snapshot.ts";
import type { BindingIndex } from "../tables/binding-index.ts";
import { type TargetScope, orgScopeOf, outerScopeOf, platformScopeOf, projectScopeOf } from "./target-scope.ts";
import { scopeBit } from "../tables/scope-table.ts";
import type { Subject } from "../tables/subject.ts";

/**
 * How many probes cost as much as a visit to a cell: most probes that find nothing read cached memory, and a cell has to be
 * fetched.
 */
export const probesOfCell = 8;

/** Of a subject with more, a decision begins with the project of the resource. */
export const fewSubjects = 32;

/** A subject by its record, as returned by `findSubject`, or by its id. */
export type SubjectReference = Subject | { readonly kind: Subject["kind"]; readonly id: string };

/** Returns the subject if it may hold anything: an ACTIVE member or a group, of an org that is not deleted. */
export function activeSubject(snapshot: OrgSnapshot, reference: SubjectReference): Subject | undefined {
  if (snapshot.org.state === "DELETED") return undefined;
  const table = reference.kind === "member" ? snapshot.members : snapshot.groups;
  const record = "record" in reference ? reference.record : table.findById(reference.id);
  if (record === 0 || !table.isActive(record)) return undefined;
  return "record" in reference ? reference : { kind: reference.kind, record };
}

/**
 * Returns a binding that applies to the subject on the resource now and that `accept` accepts; 0 if there is none. `accept`
 * must check the role and the condition of the binding.
 */
export function findGrant(
  snapshot: OrgSnapshot,
  subject: Subject,
  resource: TargetScope,
  now: number,
  accept: (binding: number) => boolean,
): number {
  const { effectiveGroups } = snapshot;
  const count = effectiveGroups.collect(subject, now);
  if (effectiveGroups.scopeBits() === 0) return 0;
  // For a subject in few groups, finding the project takes longest; for one in many groups, searching a scope for all of them
  // does.
  const isProjectFirst = count > fewSubjects;
  return (
    (isProjectFirst && findInScope(snapshot, projectScopeOf(snapshot, resource), count, now, accept)) ||
    findInScope(snapshot, orgScopeOf(snapshot, resource), count, now, accept) ||
    findInScope(snapshot, outerScopeOf(snapshot, resource), count, now, accept) ||
    findInScope(snapshot, platformScopeOf(snapshot, resource), count, now, accept) ||
    (isProjectFirst ? 0 : findInScope(snapshot, projectScopeOf(snapshot, resource), count, now, accept))
  );
}

/** @param count the number of subjects that `effectiveGroups` has collected. */
function findInScope(
  { bindings, effectiveGroups, scopes }: OrgSnapshot,
  scope: number,
  count: number,
  now: number,
  accept: (binding: number) => boolean,
): number {
  if (scope === 0 || (effectiveGroups.scopeBits() & scopeBit(scope)) === 0) return 0;
  if (scopes.cellCountOf(scope) * probesOfCell < count) {
    for (let cell = bindings.firstCellOfScope(scope); cell !== 0; cell = bindings.nextOfScope(cell)) {
      const binding = effectiveGroups.has(bindings.subjectOf(cell)) ? findInCell(bindings, cell, now, accept) : 0;
      if (binding !== 0) return binding;
    }
    return 0;
  }
  for (let index = 0; index < count; index++) {
    const cell = bindings.findCell(effectiveGroups.at(index), scope);
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
