// Reads what the engine's snapshots are made of.
import { type Transaction, sql } from "kysely";
import type { Database } from "../database/database.ts";
import type { Schema } from "../database/schema.ts";
import { type OrgRows, loadRows } from "./engine/load-rows.ts";
import { type OrgSnapshot, type OrgSnapshotOptions, createOrgSnapshot } from "./engine/org-snapshot.ts";
import type { OrgRow } from "./engine/rows.ts";
import { type BindingColumns, toBindingRow } from "./to-binding-row.ts";

/** How many rows one statement reads. */
const chunkSize = 20_000;

type RowOf<Table extends keyof OrgRows> = NonNullable<OrgRows[Table]> extends Iterable<infer Row> ? Row : never;

/** What is read of each table of an org; what a row refers to comes before it. */
const tables = [
  { table: "members", key: ["id"], columns: ["id", "name", "state", "delete_time"] },
  { table: "groups", key: ["id"], columns: ["id", "name"] },
  { table: "projects", key: ["id"], columns: ["id", "name", "state", "delete_time", "labels"] },
  { table: "roles", key: ["id"], columns: ["id", "name", "permissions"] },
  { table: "group_members", key: ["group_id", "member_id"], columns: ["group_id", "member_id", "expire_time"] },
  { table: "subgroups", key: ["group_id", "subgroup_id"], columns: ["group_id", "subgroup_id"] },
  {
    table: "role_bindings",
    key: ["id"],
    columns: [
      "id",
      "org_id",
      "scope_type",
      "customer_id",
      "project_id",
      "member_id",
      "group_id",
      "predefined_role",
      "role_id",
      "start_time",
      "expire_time",
      "condition",
    ],
  },
] as const;

type Source = (typeof tables)[number];

/**
 * Builds the snapshot of an org from its tables, as they are at one revision.
 *
 * @returns undefined when there is no such org.
 */
export function readSnapshot(
  { reads }: Database,
  orgId: string,
  options: Omit<OrgSnapshotOptions, "org">,
): Promise<OrgSnapshot | undefined> {
  return reads
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (db) => {
      const { rows } = await sql<OrgRow & { revision: string }>`
        select id, name, customer_id, state, delete_time, labels, revision from orgs where id = ${orgId}`.execute(db);
      const [org] = rows;
      if (org === undefined) return undefined;
      const snapshot = createOrgSnapshot({ ...options, org });
      for (const source of tables) {
        for await (const chunk of readInChunks(db, orgId, source)) {
          const loaded = source.table === "role_bindings" ? (chunk as BindingColumns[]).map(toBindingRow) : chunk;
          loadRows(snapshot, { [source.table]: loaded });
        }
      }
      return snapshot;
    });
}

type Chunk = RowOf<"members">[] | BindingColumns[];

async function* readInChunks(
  db: Transaction<Schema>,
  orgId: string,
  { table, key, columns }: Source,
): AsyncIterable<Chunk> {
  const keyColumns = sql.join(key.map((column) => sql.ref(column)));
  let last: Record<string, unknown> | undefined;
  do {
    const after =
      last === undefined ? sql`` : sql`and (${keyColumns}) > (${sql.join(key.map((each) => last?.[each]))})`;
    const { rows } = await sql<Record<string, unknown>>`
      select ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(table)}
      where org_id = ${orgId} ${after} order by ${keyColumns} limit ${chunkSize}`.execute(db);
    yield rows as unknown as Chunk;
    last = rows.length < chunkSize ? undefined : rows.at(-1);
  } while (last !== undefined);
}
