import type { OrgSnapshot } from "./org-snapshot.ts";
import { type Resource, scopesOf } from "./resource.ts";
import type { Subject } from "./subject.ts";

/** A probe that finds nothing mostly looks at what is at hand already; a cell has to be fetched. */
const probesOfCell = 8;

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
 * The first binding that gives the subject something on the resource now and that `accept` wants; 0 when there is none.
 * `accept` still has to look at the binding's role and condition.
 */
export function findGrant(
  snapshot: OrgSnapshot,
  subject: Subject,
  resource: Resource,
  now: number,
  accept: (binding: number) => boolean,
): number {
  const { bindings, reach, scopes } = snapshot;
  const found = scopesOf(snapshot, resource);
  if (found.length === 0) return 0;
  const count = reach.collect(subject, now);

  const findInCell = (cell: number): number => {
    let binding = bindings.firstOfCell(cell);
    while (binding !== 0 && !(bindings.holdsAt(binding, now) && accept(binding)))
      binding = bindings.nextOfCell(binding);
    return binding;
  };

  for (const scope of found) {
    if (scopes.cellCountOf(scope) * probesOfCell < count) {
      for (let cell = bindings.firstCellOfScope(scope); cell !== 0; cell = bindings.nextOfScope(cell)) {
        const binding = reach.has(bindings.subjectOf(cell)) ? findInCell(cell) : 0;
        if (binding !== 0) return binding;
      }
    } else {
      for (let index = 0; index < count; index++) {
        const cell = bindings.findCell(reach.at(index), scope);
        const binding = cell === 0 ? 0 : findInCell(cell);
        if (binding !== 0) return binding;
      }
    }
  }
  return 0;
}
