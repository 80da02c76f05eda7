import { type EntityTable, entityWidth } from "./entity-table.ts";
import { createIntRecords, getField, setField } from "./int-records.ts";

/** The field in which a project keeps its scope. */
const projectScopeField = entityWidth;

/** The field in which a scope keeps the head of its list of cells. */
export const scopeCellsField = 0;
const cellCountField = 1;
const projectField = 2;
const width = 3;

/** Returns the bit of the scope in the scope bits of subjects. */
export function scopeBit(scope: number): number {
  return 1 << (scope & 31);
}

/** What roles are bound on. Everything below it inherits the bindings. */
export type ScopeIdentity =
  | { readonly kind: "platform" }
  | { readonly kind: "customer" | "org" | "project"; readonly id: string };

/** The scopes that have, or had, bindings. */
export interface ScopeTable {
  readonly records: ReturnType<typeof createIntRecords>;
  readonly platform: number;
  /** The org of the snapshot. */
  readonly org: number;
  /** Returns 0 if nothing was bound on the customer. */
  readonly findCustomer: (id: string) => number;
  readonly putCustomer: (id: string) => number;
  /** Returns the customers on which something is, or was, bound. */
  readonly customerIds: () => string[];
  readonly findProject: (project: number) => number;
  readonly putProject: (project: number) => number;
  /** Returns the project of the scope; 0 for a scope of another kind. */
  readonly projectOf: (scope: number) => number;
  readonly removeProject: (project: number) => void;
  readonly identityOf: (scope: number) => ScopeIdentity;
  readonly cellCountOf: (scope: number) => number;
  readonly countCell: (scope: number, change: 1 | -1) => void;
  readonly bytes: () => number;
}

export function createScopeTable(orgId: string, projects: EntityTable): ScopeTable {
  const records = createIntRecords(width);
  const platform = records.add();
  const org = records.add();
  const customers = new Map<string, number>();
  const customerIds = new Map<number, string>();
  const cellCountOf = (scope: number): number => getField(records, scope, cellCountField);
  const projectOf = (scope: number): number => getField(records, scope, projectField);
  const findProject = (project: number): number => getField(projects.records, project, projectScopeField);

  return {
    records,
    platform,
    org,
    findCustomer: (id) => customers.get(id) ?? 0,

    putCustomer(id) {
      let scope = customers.get(id);
      if (scope === undefined) {
        scope = records.add();
        customers.set(id, scope);
        customerIds.set(scope, id);
      }
      return scope;
    },

    customerIds: () => [...customers.keys()],

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
      return { kind: "customer", id: customerIds.get(scope) ?? "" };
    },

    cellCountOf,
    countCell: (scope, change) => setField(records, scope, cellCountField, cellCountOf(scope) + change),
    bytes: () => records.bytes() + customers.size * 200,
  };
}
