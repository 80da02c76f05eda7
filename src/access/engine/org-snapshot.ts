import { type BindingIndex, createBindingIndex } from "./tables/binding-index.ts";
import { type CompileCondition, createConditionTable } from "./tables/condition-table.ts";
import { type EdgeLists, createEdgeLists } from "./tables/edge-lists.ts";
import { type EntityReference, type EntityState, type EntityTable, createEntityTable } from "./tables/entity-table.ts";
import { type GroupClosure, createGroupClosure } from "./tables/group-closure.ts";
import { type LabelTable, createLabelTable } from "./tables/label-table.ts";
import { type PredefinedRoles, type RoleTable, createRoleTable } from "./tables/role-table.ts";
import { type OrgRow, stateOf } from "./loading/rows.ts";
import { type ScopeTable, createScopeTable } from "./tables/scope-table.ts";
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
} from "./tables/subject-fields.ts";
import { type EffectiveGroups, createEffectiveGroups } from "./decisions/effective-groups.ts";
import type { Subject } from "./tables/subject.ts";
import { type ReadHold, createReadHold } from "./read-hold.ts";
import { type StoredPart, createRowsPart } from "./tables/stored-part.ts";
import { type Sweeper, createSweeper } from "./tables/sweeper.ts";
import { type TokenTable, createTokenTable } from "./tables/token-table.ts";

interface OrgState {
  readonly id: string;
  readonly name: string;
  readonly customerId: string;
  readonly state: EntityState;
}

/** The data that decides about the subjects of one org, as of one revision. Records are valid until the next change. */
export interface OrgSnapshot {
  readonly org: OrgState;
  readonly members: EntityTable;
  readonly groups: EntityTable;
  readonly projects: EntityTable;
  readonly roles: RoleTable;
  readonly labels: LabelTable;
  /** What ends the tokens of the org's members. */
  readonly tokens: TokenTable;
  readonly scopes: ScopeTable;
  readonly bindings: BindingIndex;
  readonly memberships: EdgeLists;
  /** Edges from groups to the groups in which they are nested. */
  readonly nestings: EdgeLists;
  readonly closure: GroupClosure;
  readonly effectiveGroups: EffectiveGroups;
  readonly sweeper: Sweeper;
  /** Keeps the snapshot as it is between the steps of a read. */
  readonly readHold: ReadHold;
  /** The revision of the org's change log up to which changes are applied. */
  readonly revision: string;
  /** Stands for the numbers of records: another object than before each change, and than that of each other snapshot. */
  readonly numbering: () => object;
  /** Whether the snapshot is at this revision or was recently; false for revisions of another history. */
  readonly hasReached: (revision: string) => boolean;
  readonly bytes: number;
  /**
   * Must be called before a change. Until `advanceTo` or `endDryRun`, the snapshot is at no revision; for good, if the change
   * fails.
   */
  readonly beginChange: () => void;
  readonly endDryRun: () => void;
  readonly isChanging: () => boolean;
  readonly advanceTo: (revision: string) => void;
  /** What a file of the snapshot has, besides the id of the org and the revision. */
  readonly parts: () => readonly StoredPart[];
  readonly putOrg: (row: OrgRow) => void;
  /** Returns the member or group that a path names; undefined if there is none. */
  readonly findSubject: (kind: Subject["kind"], reference: EntityReference) => Subject | undefined;
}

export interface OrgSnapshotOptions {
  readonly org: OrgRow & { readonly revision: string };
  readonly predefinedRoles: PredefinedRoles;
  readonly compileCondition: CompileCondition;
}

/** The maximum number of revisions that a snapshot remembers. */
const maxReached = 100;

/** The approximate memory of the objects that the factories create, besides what they count themselves. */
const bytesOfEmpty = 58_500;

/** Creates an empty snapshot of an org. `loadRows` fills it and `applyEntry` advances it. */
export function createOrgSnapshot(options: OrgSnapshotOptions): OrgSnapshot {
  let org = readOrg(options.org);
  let { revision } = options.org;
  const reached = new Set([revision]);
  let numbering = {};
  let isChanging = false;
  const members = createEntityTable(memberOwnWidth);
  const groups = createEntityTable(groupOwnWidth);
  const projects = createEntityTable(1);
  const roles = createRoleTable(options.predefinedRoles);
  const scopes = createScopeTable(org.id, projects);
  const conditions = createConditionTable(options.compileCondition);
  const labels = createLabelTable();
  labels.put(org.id, options.org.labels);
  const tokens = createTokenTable();
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
  const counted = [...Object.values(tables), conditions, closure, labels, tokens];
  const sweeper = createSweeper(tables);
  const ofOrg = createRowsPart(
    "org",
    () => [org],
    (state) => (org = state),
  );

  return {
    ...tables,
    closure,
    labels,
    tokens,
    parts: () => [...[...counted, sweeper].flatMap((each) => each.parts()), ...ofOrg],
    effectiveGroups: createEffectiveGroups({ members, groups, memberships, nestings, closure }),
    sweeper,
    readHold: createReadHold(),

    get org() {
      return org;
    },

    get revision() {
      return revision;
    },

    get bytes() {
      return counted.reduce((sum, part) => sum + part.bytes(), bytesOfEmpty);
    },

    numbering: () => numbering,
    hasReached: (wanted) => reached.has(wanted),

    beginChange() {
      isChanging = true;
      numbering = {};
    },

    endDryRun() {
      isChanging = false;
    },

    isChanging: () => isChanging,

    advanceTo(next) {
      isChanging = false;
      revision = next;
      remember(reached, next);
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

/** Adds a revision, and forgets the oldest ones. */
function remember(reached: Set<string>, revision: string): void {
  reached.add(revision);
  for (const oldest of reached) {
    if (reached.size <= maxReached) return;
    reached.delete(oldest);
  }
}

function readOrg(row: OrgRow): OrgState {
  return { id: row.id, name: row.name, customerId: row.customer_id, state: stateOf(row) };
}
