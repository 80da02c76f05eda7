import { type BindingIndex, createBindingIndex } from "./binding-index.ts";
import { type CompileCondition, createConditionTable } from "./condition-table.ts";
import { type EdgeLists, createEdgeLists } from "./edge-lists.ts";
import { type EntityReference, type EntityState, type EntityTable, createEntityTable } from "./entity-table.ts";
import { type GroupClosure, createGroupClosure } from "./group-closure.ts";
import { type LabelTable, createLabelTable } from "./label-table.ts";
import { type PredefinedRoles, type RoleTable, createRoleTable } from "./role-table.ts";
import { type OrgRow, stateOf } from "./rows.ts";
import { type ScopeTable, createScopeTable } from "./scope-table.ts";
import {
  groupCellsField,
  groupInnerField,
  groupMembershipsField,
  groupOuterField,
  groupOwnWidth,
  groupScopeBitsField,
  memberCellsField,
  memberMembershipsField,
  memberOwnWidth,
  memberScopeBitsField,
} from "./subject-fields.ts";
import { type SubjectReach, createSubjectReach } from "./subject-reach.ts";
import type { Subject } from "./subject.ts";
import { type Sweeper, createSweeper } from "./sweeper.ts";

interface OrgState {
  readonly id: string;
  readonly name: string;
  readonly customerId: string;
  readonly state: EntityState;
}

/** What decides about the subjects of one org, as of one revision. Records are valid until the next change. */
export interface OrgSnapshot {
  readonly org: OrgState;
  readonly members: EntityTable;
  readonly groups: EntityTable;
  readonly projects: EntityTable;
  readonly roles: RoleTable;
  /** Of the org and its projects. */
  readonly labels: LabelTable;
  readonly scopes: ScopeTable;
  readonly bindings: BindingIndex;
  /** From members to the groups that they are in. */
  readonly memberships: EdgeLists;
  /** From groups to the groups that they are nested in. */
  readonly nestings: EdgeLists;
  readonly closure: GroupClosure;
  readonly reach: SubjectReach;
  readonly sweeper: Sweeper;
  /** The revision of the org's change log up to which changes are applied. */
  readonly revision: string;
  /** About how much memory it takes. */
  readonly bytes: number;
  /** @throws Error when the snapshot is past that revision. */
  readonly advanceTo: (revision: string) => void;
  readonly putOrg: (row: OrgRow) => void;
  /** A member or group by what a path names it with; undefined when there is none. */
  readonly findSubject: (kind: Subject["kind"], reference: EntityReference) => Subject | undefined;
}

export interface OrgSnapshotOptions {
  readonly org: OrgRow & { readonly revision: string };
  readonly predefinedRoles: PredefinedRoles;
  readonly compileCondition: CompileCondition;
}

/** About what the factories' own objects take. */
const bytesOfEmpty = 10_000;

/** A snapshot of an org without anything in it; `loadRows` fills it and `applyChange` moves it forward. */
export function createOrgSnapshot(options: OrgSnapshotOptions): OrgSnapshot {
  let org = readOrg(options.org);
  let { revision } = options.org;
  const members = createEntityTable(memberOwnWidth);
  const groups = createEntityTable(groupOwnWidth);
  const projects = createEntityTable(1);
  const roles = createRoleTable(options.predefinedRoles);
  const scopes = createScopeTable(org.id, projects);
  const conditions = createConditionTable(options.compileCondition);
  const labels = createLabelTable();
  labels.put(org.id, options.org.labels);
  const memberships = createEdgeLists(
    { records: members.records, field: memberMembershipsField },
    { records: groups.records, field: groupMembershipsField },
  );
  const nestings = createEdgeLists(
    { records: groups.records, field: groupOuterField },
    { records: groups.records, field: groupInnerField },
  );
  const bindings = createBindingIndex({
    members: { records: members.records, field: memberCellsField, bitsField: memberScopeBitsField },
    groups: { records: groups.records, field: groupCellsField, bitsField: groupScopeBitsField },
    scopes,
    roles,
    conditions,
  });
  const closure = createGroupClosure(groups, nestings);
  const tables = { members, groups, projects, roles, scopes, memberships, nestings, bindings };
  const parts = [...Object.values(tables), conditions, closure, labels];

  return {
    ...tables,
    closure,
    labels,
    reach: createSubjectReach({ members, groups, memberships, nestings, closure }),
    sweeper: createSweeper(tables),

    get org() {
      return org;
    },

    get revision() {
      return revision;
    },

    get bytes() {
      return parts.reduce((sum, part) => sum + part.bytes(), bytesOfEmpty);
    },

    advanceTo(next) {
      if (BigInt(next) < BigInt(revision)) throw new Error(`the snapshot is at ${revision}, after ${next}`);
      revision = next;
    },

    putOrg(row) {
      org = readOrg(row);
      labels.put(row.id, row.labels);
    },

    findSubject(kind, reference) {
      const record = (kind === "member" ? members : groups).find(reference);
      return record === 0 ? undefined : { kind, record };
    },
  };
}

function readOrg(row: OrgRow): OrgState {
  return { id: row.id, name: row.name, customerId: row.customer_id, state: stateOf(row) };
}
