import { type InferResult, type Kysely, type RawBuilder, sql } from "kysely";
import { statementTime } from "../../database/clock.ts";
import { columnsOf, pathColumns, versionColumns } from "../../database/columns.ts";
import type { Schema } from "../../database/schema.ts";

export type MembershipRow = InferResult<ReturnType<typeof selectMemberships>>[number];

export const membershipColumns = ["org_id", "group_id", "member_id", "expire_time", ...versionColumns] as const;

/**
 * Selects all memberships that count: unexpired, and of members that are not deleted. They have the fields of their members that lists show,
 * and the columns that their paths need.
 */
export const selectMemberships = (db: Kysely<Schema>, now?: RawBuilder<Date>) =>
  selectUnexpiredMemberships(db, now).where("members.delete_time", "is", null);

/** Selects all unexpired memberships. Those of deleted members count again when these are undeleted. */
export const selectUnexpiredMemberships = (db: Kysely<Schema>, now = statementTime) =>
  selectKeptMemberships(db).where(
    sql<boolean>`(group_members.expire_time is null or group_members.expire_time > ${now})`,
  );

/** Selects all stored memberships, whether or not they count. */
export function selectKeptMemberships(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("groups", (join) =>
      join.onRef("groups.customer_id", "=", "orgs.customer_id").onRef("groups.org_id", "=", "orgs.id"),
    )
    .innerJoin("group_members", (join) =>
      join
        .onRef("group_members.customer_id", "=", "groups.customer_id")
        .onRef("group_members.org_id", "=", "groups.org_id")
        .onRef("group_members.group_id", "=", "groups.id"),
    )
    .innerJoin("members", (join) =>
      join
        .onRef("members.customer_id", "=", "group_members.customer_id")
        .onRef("members.org_id", "=", "group_members.org_id")
        .onRef("members.id", "=", "group_members.member_id"),
    )
    .select(columnsOf("group_members", membershipColumns))
    .select([
      ...pathColumns.org,
      "groups.name as group_name",
      "members.name as member_name",
      "members.display_name",
      "members.type",
      "members.state",
      "members.delete_time as member_delete_time",
    ]);
}
