import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { anyOf } from "../database/any-of.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { readPage } from "../resource/read-page.ts";
import { required } from "../resource/required.ts";
import type { Selection } from "../resource/resource.ts";

export type SubgroupRow = InferResult<ReturnType<typeof selectSubgroups>>[number];

const columns = [
  "subgroups.org_id",
  "subgroups.group_id",
  "subgroups.subgroup_id",
  "subgroups.description",
  "subgroups.changed_revision",
  "subgroups.create_time",
  "subgroups.update_time",
] as const;

/** All nestings, with the fields of the nested group that lists show and what their paths need. */
export function selectSubgroups(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("groups", "groups.org_id", "orgs.id")
    .innerJoin("subgroups", (join) =>
      join.onRef("subgroups.org_id", "=", "groups.org_id").onRef("subgroups.group_id", "=", "groups.id"),
    )
    .innerJoin("groups as children", (join) =>
      join.onRef("children.org_id", "=", "subgroups.org_id").onRef("children.id", "=", "subgroups.subgroup_id"),
    )
    .select(columns)
    .select([
      "orgs.name as org_name",
      "orgs.delete_time as org_delete_time",
      "groups.name as group_name",
      "children.name as child_name",
      "children.display_name as child_display_name",
    ]);
}

export function findSubgroup(db: Kysely<Schema>, path: readonly Reference[]): Promise<SubgroupRow | undefined> {
  return selectSubgroups(db)
    .where(matchesPath(["orgs", "groups", "children"], path))
    .executeTakeFirst();
}

export function readSubgroupsPage(db: Kysely<Schema>, selection: Selection): Promise<SubgroupRow[]> {
  const listing = {
    rows: selectSubgroups(db),
    parentTables: ["orgs", "groups"],
    parentColumns: ["subgroups.org_id", "subgroups.group_id"],
  } as const;
  return readPage(db, listing, selection);
}

/** The ids of a group and of all that it is nested in, directly or not. */
export async function groupsAround(db: Kysely<Schema>, orgId: string, groupId: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    with recursive around (id) as (
      select ${groupId}::uuid
      union
      select subgroups.group_id
      from around join subgroups on subgroups.org_id = ${orgId} and subgroups.subgroup_id = around.id
    )
    select id from around`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Nests groups in a group. */
export async function insertSubgroups(
  { db, org, revision }: OrgTransaction,
  groupId: string,
  rows: readonly { readonly subgroup_id: string; readonly description: string }[],
): Promise<void> {
  const added = { org_id: org.id, group_id: groupId, changed_revision: revision };
  await db
    .insertInto("subgroups")
    .values(rows.map((row) => ({ ...added, ...row })))
    .execute();
}

export async function updateSubgroup(
  { db, revision }: OrgTransaction,
  row: SubgroupRow,
  description: string,
): Promise<SubgroupRow> {
  const updated = await db
    .updateTable("subgroups")
    .set({ description, changed_revision: revision, update_time: sql`now()` })
    .where("org_id", "=", row.org_id)
    .where("group_id", "=", row.group_id)
    .where("subgroup_id", "=", row.subgroup_id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, ...updated };
}

/** Takes nested groups out of one group. */
export async function deleteSubgroups({ db, org }: OrgTransaction, rows: readonly SubgroupRow[]): Promise<void> {
  await db
    .deleteFrom("subgroups")
    .where("org_id", "=", org.id)
    .where("group_id", "=", required(rows[0]).group_id)
    .where("subgroup_id", "=", anyOf(rows.map((row) => row.subgroup_id)))
    .execute();
}
