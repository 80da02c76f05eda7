import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/standard-methods.ts";

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
  } as const;
  return readPage(db, listing, selection);
}

/** Whether `inner` is `outer` or stands anywhere below it, following the nestings down. */
export async function isWithin(db: Kysely<Schema>, orgId: string, inner: string, outer: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with recursive below (id) as (
      select ${outer}::uuid
      union
      select subgroups.subgroup_id
      from below join subgroups on subgroups.org_id = ${orgId} and subgroups.group_id = below.id
    )
    select exists (select from below where id = ${inner}) as found`.execute(db);
  return rows[0]?.found ?? false;
}

export async function insertSubgroup(
  { db, revision }: OrgTransaction,
  row: {
    readonly org_id: string;
    readonly group_id: string;
    readonly subgroup_id: string;
    readonly description: string;
  },
): Promise<void> {
  await db
    .insertInto("subgroups")
    .values({ ...row, changed_revision: revision })
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

export async function deleteSubgroup({ db }: OrgTransaction, row: SubgroupRow): Promise<void> {
  await db
    .deleteFrom("subgroups")
    .where("org_id", "=", row.org_id)
    .where("group_id", "=", row.group_id)
    .where("subgroup_id", "=", row.subgroup_id)
    .execute();
}
