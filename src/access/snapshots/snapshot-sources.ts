// What is read of each table to make a snapshot of an org, and how it gets there.
import { type RawBuilder, sql } from "kysely";
import type { EntityState } from "../engine/entity-table.ts";
import type { Labels } from "../engine/label-table.ts";
import { loadGroups, loadMembers, loadMemberships, loadProjects } from "../engine/load-columns.ts";
import { type OrgRows, loadRows } from "../engine/load-rows.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { PackedIds } from "../engine/uuid.ts";
import { type BindingColumns, toBindingRow } from "./to-binding-row.ts";

export interface SnapshotSource {
  readonly table: keyof OrgRows;
  /** How many rows one statement reads: fewer of those that can be large. */
  readonly chunkSize: number;
  /** The columns that are a key in the org; all are ids. */
  readonly key: readonly string[];
  /** What else is read, by name. */
  readonly values: Readonly<Record<string, RawBuilder<unknown>>>;
  readonly load: (snapshot: OrgSnapshot, rows: SnapshotRows) => void;
}

/** Some rows of a table. */
export interface SnapshotRows {
  /** The ids in a column of the key. */
  readonly ids: (column: string) => PackedIds;
  /** What one of `values` has for each row; the source knows of which type that is. */
  readonly values: (name: string) => readonly unknown[];
  /** The rows with all that is read of them, for tables that are not the largest. */
  readonly rows: <Row>() => Row[];
}

const entities = (rows: SnapshotRows) => ({
  ids: rows.ids("id"),
  names: rows.values("name") as readonly string[],
  states: rows.values("state") as readonly EntityState[],
});

const deletableState = { state: sql`case when delete_time is null then state else 'DELETED' end` };

/** What a row refers to comes before it. */
export const snapshotSources: readonly SnapshotSource[] = [
  {
    table: "members",
    chunkSize: 5000,
    key: ["id"],
    values: { ...columns("name"), ...deletableState },
    load: (snapshot, rows) => loadMembers(snapshot, entities(rows)),
  },
  {
    table: "groups",
    chunkSize: 5000,
    key: ["id"],
    values: { ...columns("name"), state: sql`'ACTIVE'` },
    load: (snapshot, rows) => loadGroups(snapshot, entities(rows)),
  },
  {
    table: "projects",
    chunkSize: 500,
    key: ["id"],
    values: { ...columns("name", "labels"), ...deletableState },
    load: (snapshot, rows) =>
      loadProjects(snapshot, { ...entities(rows), labels: rows.values("labels") as readonly Labels[] }),
  },
  {
    table: "roles",
    chunkSize: 50,
    key: ["id"],
    values: columns("name", "permissions"),
    load: (snapshot, rows) => loadRows(snapshot, { roles: rows.rows() }),
  },
  {
    table: "group_members",
    chunkSize: 5000,
    key: ["group_id", "member_id"],
    values: times("expire_time"),
    load: (snapshot, rows) =>
      loadMemberships(snapshot, {
        groupIds: rows.ids("group_id"),
        memberIds: rows.ids("member_id"),
        expireTimes: rows.values("expire_time") as readonly (number | null)[],
      }),
  },
  {
    table: "subgroups",
    chunkSize: 5000,
    key: ["group_id", "subgroup_id"],
    values: {},
    load: (snapshot, rows) => loadRows(snapshot, { subgroups: rows.rows() }),
  },
  {
    table: "role_bindings",
    chunkSize: 2000,
    key: ["id"],
    values: {
      ...columns("org_id", "scope_type", "customer_id", "project_id", "member_id", "group_id"),
      ...columns("predefined_role", "role_id", "condition"),
      ...times("start_time", "expire_time"),
    },
    load: (snapshot, rows) => loadRows(snapshot, { role_bindings: rows.rows<BindingColumns>().map(toBindingRow) }),
  },
];

function columns(...names: readonly string[]): SnapshotSource["values"] {
  return Object.fromEntries(names.map((name) => [name, sql.ref(name)]));
}

/** In milliseconds: as texts they would depend on the connection's time zone. */
function times(...names: readonly string[]): SnapshotSource["values"] {
  return Object.fromEntries(names.map((name) => [name, sql`(extract(epoch from ${sql.ref(name)}) * 1000)::float8`]));
}
