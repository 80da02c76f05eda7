import type { InferResult, Kysely } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type NamedFields, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/standard-methods.ts";

export type GroupRow = InferResult<ReturnType<typeof selectGroups>>[number];

/** All groups, with what their paths need. */
export function selectGroups(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("groups", "groups.org_id", "orgs.id")
    .select(["groups.org_id", ...namedColumnsOf("groups")])
    .select(["orgs.name as org_name", "orgs.delete_time as org_delete_time"]);
}

export function findGroup(db: Kysely<Schema>, path: readonly Reference[]): Promise<GroupRow | undefined> {
  return selectGroups(db)
    .where(matchesPath(["orgs", "groups"], path))
    .executeTakeFirst();
}

export function readGroupsPage(db: Kysely<Schema>, selection: Selection): Promise<GroupRow[]> {
  const listing = {
    rows: selectGroups(db),
    parentTables: ["orgs"],
  } as const;
  return readPage(db, listing, selection);
}

export async function insertGroup({ db, org, revision }: OrgTransaction, fields: NamedFields): Promise<GroupRow> {
  const row = await db
    .insertInto("groups")
    .values({ org_id: org.id, ...newNamedColumns(fields, revision) })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, org_name: org.name, org_delete_time: org.delete_time };
}

/** Deletes a group; its memberships and nestings go with it. */
export async function deleteGroup({ db }: OrgTransaction, row: GroupRow): Promise<void> {
  await db.deleteFrom("groups").where("org_id", "=", row.org_id).where("id", "=", row.id).execute();
}
