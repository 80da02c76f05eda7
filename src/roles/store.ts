import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type NamedFields, namedColumns, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/resource.ts";

export type RoleRow = InferResult<ReturnType<typeof selectRoles>>[number];

type RoleColumns = NamedFields & { readonly permissions: readonly string[] };

const columns = ["roles.org_id", "roles.permissions", ...namedColumnsOf("roles")] as const;

/** The roles of all orgs, with what their paths need. */
export function selectRoles(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("roles", "roles.org_id", "orgs.id")
    .select(columns)
    .select(["orgs.name as org_name", "orgs.delete_time as org_delete_time"]);
}

export function findRole(db: Kysely<Schema>, path: readonly Reference[]): Promise<RoleRow | undefined> {
  return selectRoles(db)
    .where(matchesPath(["orgs", "roles"], path))
    .executeTakeFirst();
}

export function readRolesPage(db: Kysely<Schema>, selection: Selection): Promise<RoleRow[]> {
  const listing = {
    rows: selectRoles(db),
    parentTables: ["orgs"],
    parentColumns: ["roles.org_id"],
    labelled: { type: "Role", id: "roles.id" },
  } as const;
  return readPage(db, listing, selection);
}

export async function insertRole({ db, org, revision }: OrgTransaction, fields: RoleColumns): Promise<RoleRow> {
  const row = await db
    .insertInto("roles")
    .values({ org_id: org.id, permissions: [...fields.permissions], ...newNamedColumns(fields, revision) })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return { ...row, org_name: org.name, org_delete_time: org.delete_time };
}

export async function updateRole(
  { db, revision }: OrgTransaction,
  row: RoleRow,
  fields: RoleColumns,
): Promise<RoleRow> {
  const values = { ...namedColumns(fields), permissions: [...fields.permissions] };
  const updated = await db
    .updateTable("roles")
    .set({ ...values, changed_revision: revision, update_time: sql`now()` })
    .where("org_id", "=", row.org_id)
    .where("id", "=", row.id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  return { ...row, ...updated };
}

/** Deletes a role; its bindings go with it. */
export async function deleteRole({ db }: OrgTransaction, row: RoleRow): Promise<void> {
  await db.deleteFrom("roles").where("org_id", "=", row.org_id).where("id", "=", row.id).execute();
}
