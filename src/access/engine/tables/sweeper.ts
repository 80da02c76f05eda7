// A purged resource is left out of all results at once, but a group can have a million memberships that refer to it. They are
// removed later, some with each change, and only then the record can be reused.
import type { BindingIndex } from "./binding-index.ts";
import type { EdgeLists } from "./edge-lists.ts";
import type { EntityTable } from "./entity-table.ts";
import type { RoleTable } from "./role-table.ts";
import type { ScopeTable } from "./scope-table.ts";
import { type StoredPart, createRowsPart } from "./stored-part.ts";
import { subjectNumber } from "./subject.ts";

type Kind = "member" | "group" | "project" | "role";

export interface Sweeper {
  /** Must be called for each retired record. */
  readonly add: (kind: Kind, record: number) => void;
  /** Removes references to retired records, at most this many. */
  readonly sweep: (limit: number) => void;
  readonly parts: () => readonly StoredPart[];
}

interface Swept {
  readonly members: EntityTable;
  readonly groups: EntityTable;
  readonly projects: EntityTable;
  readonly roles: RoleTable;
  readonly scopes: ScopeTable;
  readonly memberships: EdgeLists;
  readonly nestings: EdgeLists;
  readonly bindings: BindingIndex;
}

export function createSweeper(swept: Swept): Sweeper {
  const { members, groups, projects, roles, scopes, memberships, nestings, bindings } = swept;
  const retired: { readonly kind: Kind; readonly record: number }[] = [];

  const removeEdge = (edges: EdgeLists, edge: number): boolean => {
    if (edge !== 0) edges.remove(edge);
    return edge !== 0;
  };

  const removeBinding = (binding: number): boolean => {
    if (binding !== 0) bindings.remove(binding);
    return binding !== 0;
  };

  const removeFromCell = (cell: number): boolean => cell !== 0 && removeBinding(bindings.firstOfCell(cell));

  const removeOfSubject = (subject: number): boolean => removeFromCell(bindings.firstCellOfSubject(subject));

  const removeOfScope = (scope: number): boolean => scope !== 0 && removeFromCell(bindings.firstCellOfScope(scope));

  /** Removes one reference to the record. Returns false if there was none. */
  const steps = {
    member: (record: number) =>
      removeEdge(memberships, memberships.firstFrom(record)) || removeOfSubject(subjectNumber("member", record)),
    group: (record: number) =>
      removeEdge(memberships, memberships.firstTo(record)) ||
      removeEdge(nestings, nestings.firstFrom(record)) ||
      removeEdge(nestings, nestings.firstTo(record)) ||
      removeOfSubject(subjectNumber("group", record)),
    project: (record: number) => removeOfScope(scopes.findProject(record)),
    role: (record: number) => removeBinding(bindings.firstOfRole(record)),
  };

  const releases = {
    member: members.release,
    group: groups.release,
    project: (record: number) => {
      scopes.removeProject(record);
      projects.release(record);
    },
    role: roles.releaseCustom,
  };

  return {
    add: (kind, record) => void retired.push({ kind, record }),

    sweep(limit) {
      for (let left = limit; left > 0; left--) {
        const last = retired.at(-1);
        if (last === undefined) return;
        if (steps[last.kind](last.record)) continue;
        releases[last.kind](last.record);
        retired.pop();
      }
    },

    parts: () =>
      createRowsPart(
        "retired records",
        () => retired,
        (each) => retired.push(each),
      ),
  };
}
