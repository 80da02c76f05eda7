import { type InferResult, type Insertable, type Kysely, type SqlBool, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { anyOf } from "../database/any-of.ts";
import { namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { RoleBindings, Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type NamedFields, namedColumns, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/resource.ts";
import type { Scope } from "./scopes.ts";

export type RoleBindingRow = InferResult<ReturnType<typeof selectRoleBindings>>[number];

const ownColumns = [
  "role_bindings.org_id",
  "role_bindings.scope_type",
  "role_bindings.scope_id",
  "role_bindings.customer_id",
  "role_bindings.project_id",
  "role_bindings.member_id",
  "role_bindings.group_id",
  "role_bindings.predefined_role",
  "role_bindings.role_id",
  "role_bindings.start_time",
  "role_bindings.expire_time",
  "role_bindings.condition",
  ...namedColumnsOf("role_bindings"),
] as const;

/** One whose time has passed is gone. */
const inForce = sql<SqlBool>`(role_bindings.expire_time is null or role_bindings.expire_time > now())`;

/** All role bindings in force, of all scopes, with what their paths and those of their subjects and roles need. */
export function selectRoleBindings(db: Kysely<Schema>) {
  return selectKeptRoleBindings(db).where(inForce);
}

/** The same with those whose time has passed and that are not removed yet. */
export function selectKeptRoleBindings(db: Kysely<Schema>) {
  return db
    .selectFrom("role_bindings")
    .innerJoin("orgs", "orgs.id", "role_bindings.org_id")
    .leftJoin("customers", "customers.id", "role_bindings.customer_id")
    .leftJoin("projects", (join) =>
      join.onRef("projects.org_id", "=", "role_bindings.org_id").onRef("projects.id", "=", "role_bindings.project_id"),
    )
    .leftJoin("members", (join) =>
      join.onRef("members.org_id", "=", "role_bindings.org_id").onRef("members.id", "=", "role_bindings.member_id"),
    )
    .leftJoin("groups", (join) =>
      join.onRef("groups.org_id", "=", "role_bindings.org_id").onRef("groups.id", "=", "role_bindings.group_id"),
    )
    .leftJoin("roles", (join) =>
      join.onRef("roles.org_id", "=", "role_bindings.org_id").onRef("roles.id", "=", "role_bindings.role_id"),
    )
    .select(ownColumns)
    .select([
      "orgs.name as org_name",
      "orgs.delete_time as org_delete_time",
      "customers.name as customer_name",
      "customers.delete_time as customer_delete_time",
      "projects.name as project_name",
      "projects.state as project_state",
      "projects.delete_time as project_delete_time",
      "members.name as member_name",
      "members.delete_time as member_delete_time",
      "groups.name as group_name",
      "roles.name as role_name",
    ]);
}

export function findRoleBinding(
  db: Kysely<Schema>,
  { parentTables, holds }: Scope,
  path: readonly Reference[],
): Promise<RoleBindingRow | undefined> {
  return selectRoleBindings(db)
    .where(holds)
    .where(matchesPath([...parentTables, "role_bindings"], path))
    .executeTakeFirst();
}

export function readRoleBindingsPage(
  db: Kysely<Schema>,
  { parentTables, parentColumns, isInOrg, holds }: Scope,
  selection: Selection,
): Promise<RoleBindingRow[]> {
  const listing = {
    rows: selectRoleBindings(db).where(holds),
    parentTables,
    parentColumns,
    ...(isInOrg && { labelled: { type: "RoleBinding", id: "role_bindings.id" } as const }),
  };
  return readPage(db, listing, selection);
}

/** The columns of a new binding that are not those of every named resource. */
export type NewRoleBinding = Omit<Insertable<RoleBindings>, keyof ReturnType<typeof newNamedColumns> | "org_id">;

/** Adds a binding. One of its name whose time has passed is replaced, as if it had been deleted. */
export async function insertRoleBinding(
  { db, org, revision }: OrgTransaction,
  fields: NamedFields,
  columns: NewRoleBinding,
): Promise<RoleBindingRow | undefined> {
  const { scope_type: scope, customer_id: customerId = null, project_id: projectId = null } = columns;
  await db
    .deleteFrom("role_bindings")
    .where("name", "=", fields.name)
    .where("scope_type", "=", scope)
    .where("customer_id", "is not distinct from", customerId)
    .where("project_id", "is not distinct from", projectId)
    // Those of a customer and of the platform have one name whatever the org.
    .$if(scope === "ORG" || scope === "PROJECT", (query) => query.where("org_id", "=", org.id))
    .where("expire_time", "<=", sql<Date>`now()`)
    .execute();
  const { id } = await db
    .insertInto("role_bindings")
    .values({ org_id: org.id, ...columns, ...newNamedColumns(fields, revision) })
    .returning("id")
    .executeTakeFirstOrThrow();
  return readRoleBinding(db, org.id, id);
}

/** @returns undefined when the new time has passed by the database's clock. */
export async function updateRoleBinding(
  { db, revision }: OrgTransaction,
  row: RoleBindingRow,
  fields: NamedFields,
  columns: Pick<RoleBindings, "start_time" | "expire_time" | "condition">,
): Promise<RoleBindingRow | undefined> {
  await db
    .updateTable("role_bindings")
    .set({ ...namedColumns(fields), ...columns, changed_revision: revision, update_time: sql`now()` })
    .where("org_id", "=", row.org_id)
    .where("id", "=", row.id)
    .execute();
  return readRoleBinding(db, row.org_id, row.id);
}

export async function deleteRoleBindings({ db, org }: OrgTransaction, rows: readonly RoleBindingRow[]): Promise<void> {
  const ids = anyOf(rows.map(({ id }) => id));
  await db.deleteFrom("role_bindings").where("org_id", "=", org.id).where("id", "=", ids).execute();
}

function readRoleBinding(db: Kysely<Schema>, orgId: string, id: string): Promise<RoleBindingRow | undefined> {
  return selectRoleBindings(db)
    .where("role_bindings.org_id", "=", orgId)
    .where("role_bindings.id", "=", id)
    .executeTakeFirst();
}
