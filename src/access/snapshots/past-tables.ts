// What is read from each table, and the log of it, to build the snapshot of an org as it was, and how it is loaded.
import type { LoggedTable } from "../../changes/past/read-past-rows.ts";
import { loadRows } from "../engine/loading/load-rows.ts";
import type { ProjectRow, RoleBindingRow } from "../engine/loading/rows.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import { type BindingColumns, toBindingRow } from "./to-binding-row.ts";

export interface PastTable extends LoggedTable {
  readonly load: (snapshot: OrgSnapshot, rows: readonly object[]) => void;
}

const entity = { key: ["id"], chunkSize: 500, isRemovedWithOthers: false };
const reference = { chunkSize: 500, isRemovedWithOthers: true };

const bindingColumns = [
  "id",
  "org_id",
  "scope_type",
  "customer_id",
  "service_id",
  "project_id",
  "member_id",
  "group_id",
  "predefined_role",
  "role_id",
  "condition",
  "start_time",
  "expire_time",
] as const satisfies readonly (keyof BindingColumns)[];

/** In the order of loading: referenced rows come first. */
export const pastTables: readonly PastTable[] = [
  {
    ...entity,
    type: "Member",
    table: "members",
    columns: ["id", "name", "state", "delete_time"],
    load: (snapshot, rows) => loadRows(snapshot, { members: rows as never }),
  },
  {
    ...entity,
    type: "Group",
    table: "groups",
    columns: ["id", "name"],
    load: (snapshot, rows) => loadRows(snapshot, { groups: rows as never }),
  },
  {
    ...entity,
    type: "Project",
    table: "projects",
    columns: ["id", "name", "state", "delete_time", "labels"],
    load: (snapshot, rows) =>
      loadRows(snapshot, { projects: (rows as ProjectRow[]).map((row) => ({ ...row, labels: row.labels ?? {} })) }),
  },
  {
    ...entity,
    type: "Role",
    table: "roles",
    columns: ["id", "name", "permissions"],
    chunkSize: 50,
    load: (snapshot, rows) => loadRows(snapshot, { roles: rows as never }),
  },
  {
    ...reference,
    type: "GroupMember",
    table: "group_members",
    key: ["group_id", "member_id"],
    columns: ["group_id", "member_id", "expire_time"],
    load: (snapshot, rows) => loadRows(snapshot, { group_members: rows as never }),
  },
  {
    ...reference,
    type: "Subgroup",
    table: "subgroups",
    key: ["group_id", "subgroup_id"],
    columns: ["group_id", "subgroup_id"],
    load: (snapshot, rows) => loadRows(snapshot, { subgroups: rows as never }),
  },
  {
    ...reference,
    type: "RoleBinding",
    table: "role_bindings",
    key: ["id"],
    columns: bindingColumns,
    load: (snapshot, rows) => loadRows(snapshot, { role_bindings: (rows as BindingColumns[]).map(toPastBinding) }),
  },
];

/** Entries of earlier versions have no condition. */
function toPastBinding(row: Omit<BindingColumns, "condition"> & { readonly condition: string | null }): RoleBindingRow {
  return toBindingRow({ ...row, condition: row.condition ?? "" });
}

/** The types to whose rows others refer. */
export const referredTypes = ["Member", "Group", "Project", "Role"] as const;
