import { type InferResult, type Kysely, type SqlBool, sql } from "kysely";
import { statementTime } from "../../database/clock.ts";
import { columnsOf, namedColumns, pathColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type RoleBindingRow = InferResult<ReturnType<typeof selectRoleBindings>>[number];

export const roleBindingColumns = [
  "org_id",
  "scope_type",
  "scope_id",
  "customer_id",
  "service_id",
  "project_id",
  "member_id",
  "group_id",
  "predefined_role",
  "role_id",
  "start_time",
  "expire_time",
  "condition",
  ...namedColumns,
] as const;

/**
 * Selects all unexpired role bindings, of all scopes, with the columns that their paths and those of their subjects and roles
 * need.
 */
export function selectRoleBindings(db: Kysely<Schema>, now = statementTime) {
  // An expired binding counts as removed.
  return selectKeptRoleBindings(db).where(
    sql<SqlBool>`(role_bindings.expire_time is null or role_bindings.expire_time > ${now})`,
  );
}

/** Selects all stored role bindings, including expired ones that are not removed yet. */
export function selectKeptRoleBindings(db: Kysely<Schema>) {
  return db
    .selectFrom("role_bindings")
    .innerJoin("orgs", (join) =>
      join
        .onRef("orgs.customer_id", "=", "role_bindings.org_customer_id")
        .onRef("orgs.id", "=", "role_bindings.org_id"),
    )
    .leftJoin("customers", "customers.id", "role_bindings.customer_id")
    .leftJoin("services", "services.id", "role_bindings.service_id")
    .leftJoin("projects", (join) =>
      join
        .onRef("projects.customer_id", "=", "role_bindings.org_customer_id")
        .onRef("projects.org_id", "=", "role_bindings.org_id")
        .onRef("projects.id", "=", "role_bindings.project_id"),
    )
    .leftJoin("members", (join) =>
      join
        .onRef("members.customer_id", "=", "role_bindings.org_customer_id")
        .onRef("members.org_id", "=", "role_bindings.org_id")
        .onRef("members.id", "=", "role_bindings.member_id"),
    )
    .leftJoin("groups", (join) =>
      join
        .onRef("groups.customer_id", "=", "role_bindings.org_customer_id")
        .onRef("groups.org_id", "=", "role_bindings.org_id")
        .onRef("groups.id", "=", "role_bindings.group_id"),
    )
    .leftJoin("roles", (join) =>
      join
        .onRef("roles.customer_id", "=", "role_bindings.org_customer_id")
        .onRef("roles.org_id", "=", "role_bindings.org_id")
        .onRef("roles.id", "=", "role_bindings.role_id"),
    )
    .select(columnsOf("role_bindings", roleBindingColumns))
    .select([
      "role_bindings.org_customer_id",
      ...pathColumns.org,
      "customers.name as customer_name",
      "customers.delete_time as customer_delete_time",
      "services.name as service_name",
      ...pathColumns.project,
      ...pathColumns.member,
      "groups.name as group_name",
      "roles.name as role_name",
    ]);
}
