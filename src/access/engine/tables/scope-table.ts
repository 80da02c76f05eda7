import { type EntityTable, entityWidth } from "./entity-table.ts";
import { createIntRecords, getField, setField } from "./int-records.ts";
import { type StoredPart, createRowsPart } from "./stored-part.ts";

const projectScopeField = entityWidth;

/** The field in which a scope keeps the head of its list of cells. */
export const scopeCellsField = 0;
const cellCountField = 1;
const projectField = 2;
const width = 3;

export function scopeBit(scope: number): number {
  return 1 << (scope & 31);
}

/** A scope outside of the org, which several orgs can share, below the platform. */
type OuterKind = "customer" | "service";

/** What roles are bound on. Everything below it inherits the bindings. */
export type ScopeIdentity =
  | { readonly kind: "platform" }
  | { readonly kind: OuterKind | "org" | "project"; readonly id: string };

/** The scopes that have, or had, bindings. */
export interface ScopeTable {
  readonly records: ReturnType<typeof createIntRecords>;
  readonly platform: number;
  /** The org of the snapshot. */
  readonly org: number;
  /** Returns 0 if nothing was bound on the customer or service. */
  readonly findOuter: (kind: OuterKind, id: string) => number;
  readonly putOuter: (kind: OuterKind, id: string) => number;
  /** Returns the customers or services on which something is, or was, bound. */
  readonly outerIds: (kind: OuterKind) => string[];
  readonly findProject: (project: number) => number;
  readonly putProject: (project: number) => number;
  /** Returns the project of the scope; 0 for a scope of another kind. */
  readonly projectOf: (scope: number) => number;
  readonly removeProject: (project: number) => void;
  readonly identityOf: (scope: number) => ScopeIdentity;
  readonly cellCountOf: (scope: number) => number;
  readonly countCell: (scope: number, change: 1 | -1) => void;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

export function createScopeTable(orgId: string, projects: EntityTable): ScopeTable {
  const records = createIntRecords(width);
  const platform = records.add();
  const org = records.add();
  const outer = { customer: new Map<string, number>(), service: new Map<string, number>() };
  const outerIdentities = new Map<number, { readonly kind: OuterKind; readonly id: string }>();
  const cellCountOf = (scope: number): number => getField(records, scope, cellCountField);
  const projectOf = (scope: number): number => getField(records, scope, projectField);
  const findProject = (project: number): number => getField(projects.records, project, projectScopeField);

  function addOuter(kind: OuterKind, id: string, scope: number): void {
    outer[kind].set(id, scope);
    outerIdentities.set(scope, { kind, id });
  }

  return {
    records,
    platform,
    org,
    findOuter: (kind, id) => outer[kind].get(id) ?? 0,

    putOuter(kind, id) {
      let scope = outer[kind].get(id);
      if (scope === undefined) {
        scope = records.add();
        addOuter(kind, id, scope);
      }
      return scope;
    },

    outerIds: (kind) => [...outer[kind].keys()],

    findProject,

    putProject(project) {
      let scope = findProject(project);
      if (scope === 0) {
        scope = records.add();
        setField(records, scope, projectField, project);
        setField(projects.records, project, projectScopeField, scope);
      }
      return scope;
    },

    projectOf,

    removeProject(project) {
      const scope = findProject(project);
      if (scope !== 0) records.remove(scope);
    },

    identityOf(scope) {
      if (scope === platform) return { kind: "platform" };
      if (scope === org) return { kind: "org", id: orgId };
      const project = projectOf(scope);
      if (project !== 0) return { kind: "project", id: projects.idOf(project) };
      return outerIdentities.get(scope) ?? { kind: "platform" };
    },

    cellCountOf,
    countCell: (scope, change) => setField(records, scope, cellCountField, cellCountOf(scope) + change),
    bytes: () => records.bytes() + outerIdentities.size * 300,

    parts: () => [
      ...records.parts(),
      ...createRowsPart(
        "customers and services",
        () => outerIdentities,
        ([scope, { kind, id }]) => addOuter(kind, id, scope),
      ),
    ],
  };
}
