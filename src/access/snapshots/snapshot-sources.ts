// What is read from each table to build the snapshot of an org, and how it is loaded.
import { type RawBuilder, sql } from "kysely";
import type { StoredState } from "../engine/tables/entity-table.ts";
import type { Labels } from "../engine/tables/label-table.ts";
import { loadGroups, loadMembers, loadMemberships, loadProjects } from "../engine/loading/load-columns.ts";
import { type OrgRows, loadRows } from "../engine/loading/load-rows.ts";
import type { OrgSnapshot } from "../engine/org-snapshot.ts";
import type { PackedIds } from "../engine/tables/uuid.ts";
import { type BindingColumns, toBindingRow } from "./to-binding-row.ts";

export interface SnapshotSource {
  readonly table: keyof OrgRows;
  /** The number of rows that one statement reads. It is lower for rows that can be large. */
  readonly chunkSize: number;
  /** The columns that are the key within the org. All hold UUIDs. */
  readonly key: readonly string[];
  /** The other columns to read, by name. */
  readonly values: Readonly<Record<string, RawBuilder<unknown>>>;
  readonly load: (snapshot: OrgSnapshot, rows: SnapshotRows) => void;
}

export interface SnapshotRows {
  readonly ids: (column: string) => PackedIds;
  /** Returns the values of a column, one for each row. The source knows their type. */
  readonly values: (name: string) => readonly unknown[];
  /** Returns whole rows, for tables that are not the largest. */
  readonly rows: <Row>() => Row[];
}

const entities = (rows: SnapshotRows) => ({
  ids: rows.ids("id"),
  names: rows.values("name") as readonly string[],
  states: rows.values("state") as readonly StoredState[],
});

const memberState = sql`case when delete_time is null then state else 'DELETED' end`;
const projectState = sql`
  case when delete_time is null then state when state = 'SUSPENDED' then 'SUSPENDED AND DELETED' else 'DELETED' end`;

/** In the order of loading: referenced rows come first. */
export const snapshotSources: readonly SnapshotSource[] = [
  {
    table: "members",
    chunkSize: 5000,
    key: ["id"],
    values: { ...columns("name", "token_gen"), state: memberState },
    load: (snapshot, rows) =>
      loadMembers(snapshot, { ...entities(rows), tokenGens: rows.values("token_gen") as readonly (string | null)[] }),
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
    values: { ...columns("name", "labels"), state: projectState },
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
      ...columns("org_id", "scope_type", "customer_id", "service_id", "project_id", "member_id", "group_id"),
      ...columns("predefined_role", "role_id", "condition"),
      ...times("start_time", "expire_time"),
    },
    load: (snapshot, rows) => loadRows(snapshot, { role_bindings: rows.rows<BindingColumns>().map(toBindingRow) }),
  },
  {
    table: "ended_tokens",
    chunkSize: 5000,
    key: ["id"],
    values: { ...columns("type"), ...times("end_time") },
    load: (snapshot, rows) => loadRows(snapshot, { ended_tokens: rows.rows() }),
  },
];

function columns(...names: readonly string[]): SnapshotSource["values"] {
  return Object.fromEntries(names.map((name) => [name, sql.ref(name)]));
}

/** Reads times in milliseconds. As text they would depend on the connection's time zone. */
function times(...names: readonly string[]): SnapshotSource["values"] {
  return Object.fromEntries(names.map((name) => [name, sql`(extract(epoch from ${sql.ref(name)}) * 1000)::float8`]));
}
