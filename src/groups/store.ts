import type { InferResult, Kysely } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { namedColumnsOf } from "../database/columns.ts";
import { anyOf } from "../database/any-of.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { inOrder } from "../resource/in-order.ts";
import { type NamedFields, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/resource.ts";

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
    parentColumns: ["groups.org_id"],
    labelled: { type: "Group", id: "groups.id" },
  } as const;
  return readPage(db, listing, selection);
}

export async function insertGroups(
  { db, org, revision }: OrgTransaction,
  groups: readonly NamedFields[],
): Promise<GroupRow[]> {
  const values = groups.map((fields) => ({ org_id: org.id, ...newNamedColumns(fields, revision) }));
  const rows = await db.insertInto("groups").values(values).returningAll().execute();
  return inOrder(values, rows).map((row) => ({ ...row, org_name: org.name, org_delete_time: org.delete_time }));
}

/** Deletes groups; their memberships and nestings go with them. */
export async function deleteGroups({ db, org }: OrgTransaction, rows: readonly GroupRow[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await db.deleteFrom("groups").where("org_id", "=", org.id).where("id", "=", anyOf(ids)).execute();
}
