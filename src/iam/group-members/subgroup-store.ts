import { type InferResult, type Kysely, sql } from "kysely";
import { columnsOf, pathColumns, versionColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type SubgroupRow = InferResult<ReturnType<typeof selectSubgroups>>[number];

export const subgroupColumns = ["org_id", "group_id", "subgroup_id", "description", ...versionColumns] as const;

/** Selects all nestings, with the fields of the nested group that lists show and the columns that their paths need. */
export function selectSubgroups(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("groups", (join) =>
      join.onRef("groups.customer_id", "=", "orgs.customer_id").onRef("groups.org_id", "=", "orgs.id"),
    )
    .innerJoin("subgroups", (join) =>
      join
        .onRef("subgroups.customer_id", "=", "groups.customer_id")
        .onRef("subgroups.org_id", "=", "groups.org_id")
        .onRef("subgroups.group_id", "=", "groups.id"),
    )
    .innerJoin("groups as children", (join) =>
      join
        .onRef("children.customer_id", "=", "subgroups.customer_id")
        .onRef("children.org_id", "=", "subgroups.org_id")
        .onRef("children.id", "=", "subgroups.subgroup_id"),
    )
    .select(columnsOf("subgroups", subgroupColumns))
    .select([
      ...pathColumns.org,
      "groups.name as group_name",
      "children.name as child_name",
      "children.display_name as child_display_name",
    ]);
}

/** A group, and one in which it is nested. */
export interface Nesting {
  readonly groupId: string;
  readonly subgroupId: string;
}

/** Returns the nestings of groups, and of all groups in which they are nested, directly or indirectly. */
export async function nestingsAround(
  db: Kysely<Schema>,
  orgId: string,
  groupIds: readonly string[],
): Promise<Nesting[]> {
  const { rows } = await sql<Nesting>`
    with recursive around (id) as (
      select unnest(${groupIds}::uuid[])
      union
      select subgroups.group_id
      from around join subgroups on subgroups.org_id = ${orgId} and subgroups.subgroup_id = around.id
    )
    select subgroups.group_id as "groupId", subgroups.subgroup_id as "subgroupId"
    from around join subgroups on subgroups.org_id = ${orgId} and subgroups.subgroup_id = around.id`.execute(db);
  return rows;
}
