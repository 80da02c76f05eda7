// Finds what is due, the longest due first. What is in an org that is due itself goes with the org, and is not found here.
import { type Kysely, sql } from "kysely";
import type { Schema } from "../database/schema.ts";
import type { ResourceTable } from "../resource/definition.ts";
import { hasExpired, hasNoOrg, isDue, isExpiredInvitation, orgStays } from "./conditions.ts";
import type { OrgTable } from "./org-tables.ts";

/** How much to find, and the orgs or customers to leave out. */
export interface Search {
  readonly leftOut: readonly string[];
  readonly limit: number;
}

/** Where a row is that has an id of its own. */
interface Place {
  readonly org_id: string;
  readonly id: string;
}

/** Where a membership is. */
export interface MembershipPlace {
  readonly org_id: string;
  readonly group_id: string;
  readonly member_id: string;
}

export function findExpiredInvitations(db: Kysely<Schema>, { leftOut, limit }: Search): Promise<Place[]> {
  return db
    .selectFrom("orgs")
    .innerJoin("members", "members.org_id", "orgs.id")
    .select(["members.org_id", "members.id"])
    .where(isExpiredInvitation)
    .where(orgStays)
    .where("members.org_id", "<>", noneOf(leftOut))
    .orderBy("members.invitation_expire_time")
    .limit(limit)
    .execute();
}

export function findExpiredMemberships(db: Kysely<Schema>, { leftOut, limit }: Search): Promise<MembershipPlace[]> {
  return db
    .selectFrom("orgs")
    .innerJoin("group_members", "group_members.org_id", "orgs.id")
    .select(["group_members.org_id", "group_members.group_id", "group_members.member_id"])
    .where(hasExpired)
    .where(orgStays)
    .where("group_members.org_id", "<>", noneOf(leftOut))
    .orderBy("group_members.expire_time")
    .limit(limit)
    .execute();
}

/** Two selects, because each condition has an index of its own. */
export async function findSpentRoleBindings(db: Kysely<Schema>, { leftOut, limit }: Search): Promise<Place[]> {
  const places = db
    .selectFrom("orgs")
    .innerJoin("role_bindings", "role_bindings.org_id", "orgs.id")
    .select(["role_bindings.org_id", "role_bindings.id"])
    .where(orgStays)
    .where("role_bindings.org_id", "<>", noneOf(leftOut));
  const expired = await places
    .where(sql<boolean>`role_bindings.expire_time <= now()`)
    .orderBy("role_bindings.expire_time")
    .limit(limit)
    .execute();
  if (expired.length > 0) return expired;
  return places
    .innerJoin("customers", "customers.id", "role_bindings.customer_id")
    .where(isDue("customers"))
    .limit(limit)
    .execute();
}

/** Kysely types a statement by its one table, so this is written for members and used for all that stays when it is deleted. */
export function findDueIn(db: Kysely<Schema>, table: ResourceTable, { leftOut, limit }: Search): Promise<Place[]> {
  return db
    .selectFrom("orgs")
    .innerJoin(`${table as "members"} as due`, "due.org_id", "orgs.id")
    .select(["due.org_id", "due.id"])
    .where(isDue("due"))
    .where(orgStays)
    .where("due.org_id", "<>", noneOf(leftOut))
    .orderBy("due.purge_time")
    .limit(limit)
    .execute();
}

export function findDueOrgs(db: Kysely<Schema>, { leftOut, limit }: Search): Promise<{ id: string }[]> {
  return db
    .selectFrom("orgs")
    .select("id")
    .where(isDue("orgs"))
    .where("id", "<>", noneOf(leftOut))
    .orderBy("purge_time")
    .limit(limit)
    .execute();
}

/** Where a row is: a position in its table, which another row may take when it has moved or is gone. */
export interface RowPlace {
  readonly table: OrgTable;
  readonly place: string;
}

/**
 * Finds rows of what is in an org, those first that refer to others. After many were deleted this takes a while, for the
 * database looks at them until they are vacuumed; whoever deletes holds no lock for that long.
 */
export async function findRowsOfOrg(
  db: Kysely<Schema>,
  tables: readonly OrgTable[],
  orgId: string,
  limit: number,
): Promise<RowPlace[]> {
  const found: RowPlace[] = [];
  for (const table of tables) {
    if (found.length === limit) break;
    const { rows } = await sql<{ place: string }>`
      select ctid::text as place from ${sql.table(table)} where org_id = ${orgId}
      limit ${limit - found.length}`.execute(db);
    found.push(...rows.map(({ place }) => ({ table, place })));
  }
  return found;
}

/** Those that have no org left. */
export function findDueCustomers(db: Kysely<Schema>, { leftOut, limit }: Search): Promise<{ id: string }[]> {
  return db
    .selectFrom("customers")
    .select("id")
    .where(isDue("customers"))
    .where(hasNoOrg)
    .where("id", "<>", noneOf(leftOut))
    .orderBy("purge_time")
    .limit(limit)
    .execute();
}

const noneOf = (ids: readonly string[]) => sql<string>`all(${ids}::uuid[])`;
