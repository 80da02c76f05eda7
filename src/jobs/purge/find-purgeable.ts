// Finds what can be purged, the longest overdue first. What is in an org that can be purged itself is removed with the org, and
// is not found here.
import { type Kysely, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import {
  isExpiredMembership,
  hasNoOrg,
  isExpiredApiKey,
  isPastCustomer,
  isPurgeable,
  isExpiredInvitation,
  orgStays,
} from "./purge-conditions.ts";
import type { OrgTable } from "./org-tables.ts";
import { readClock } from "../../database/clock.ts";

/** How much to find, and the orgs or customers to leave out. */
export interface Search {
  readonly leftOut: readonly string[];
  readonly limit: number;
}

/** The location of a row that has an id of its own. */
interface Place {
  readonly org_id: string;
  readonly id: string;
}

/** The location of a membership. */
export interface MembershipPlace {
  readonly org_id: string;
  readonly group_id: string;
  readonly member_id: string;
}

export async function findExpiredInvitations(db: Kysely<Schema>, { leftOut, limit }: Search): Promise<Place[]> {
  const now = await readClock(db);
  return db
    .selectFrom("orgs")
    .innerJoin("members", "members.org_id", "orgs.id")
    .select(["members.org_id", "members.id"])
    .where(isExpiredInvitation(now))
    .where(orgStays(now))
    .where("members.org_id", "<>", noneOf(leftOut))
    .orderBy("members.invitation_expire_time")
    .limit(limit)
    .execute();
}

export async function findExpiredMemberships(
  db: Kysely<Schema>,
  { leftOut, limit }: Search,
): Promise<MembershipPlace[]> {
  const now = await readClock(db);
  return db
    .selectFrom("orgs")
    .innerJoin("group_members", "group_members.org_id", "orgs.id")
    .select(["group_members.org_id", "group_members.group_id", "group_members.member_id"])
    .where(isExpiredMembership(now))
    .where(orgStays(now))
    .where("group_members.org_id", "<>", noneOf(leftOut))
    .orderBy("group_members.expire_time")
    .limit(limit)
    .execute();
}

export async function findExpiredApiKeys(db: Kysely<Schema>, { leftOut, limit }: Search): Promise<Place[]> {
  const now = await readClock(db);
  return db
    .selectFrom("orgs")
    .innerJoin("api_keys", "api_keys.org_id", "orgs.id")
    .select(["api_keys.org_id", "api_keys.id"])
    .where(isExpiredApiKey(now))
    .where(orgStays(now))
    .where("api_keys.org_id", "<>", noneOf(leftOut))
    .orderBy("api_keys.expire_time")
    .limit(limit)
    .execute();
}

/** Runs two selects, because each condition has its own index. */
export async function findExpiredRoleBindings(db: Kysely<Schema>, { leftOut, limit }: Search): Promise<Place[]> {
  const now = await readClock(db);
  const places = db
    .selectFrom("orgs")
    .innerJoin("role_bindings", "role_bindings.org_id", "orgs.id")
    .select(["role_bindings.org_id", "role_bindings.id"])
    .where(orgStays(now))
    .where("role_bindings.org_id", "<>", noneOf(leftOut));
  const expired = await places
    .where(sql<boolean>`role_bindings.expire_time <= ${now}`)
    .orderBy("role_bindings.expire_time")
    .limit(limit)
    .execute();
  if (expired.length > 0) return expired;
  return places
    .innerJoin("customers", "customers.id", "role_bindings.customer_id")
    .where(isPastCustomer(now))
    .orderBy("customers.purge_time")
    .limit(limit)
    .execute();
}

/**
 * Finds purgeable resources in orgs. Kysely types a statement by its one table, so this is written for members and used for all
 * resources that are soft-deleted.
 */
export async function findPurgeableIn(
  db: Kysely<Schema>,
  registry: ResourceRegistry,
  definition: ResourceDefinition,
  { leftOut, limit }: Search,
): Promise<Place[]> {
  const now = await readClock(db);
  return db
    .selectFrom("orgs")
    .innerJoin(`${definition.storage.table as "members"} as due`, "due.org_id", "orgs.id")
    .select(["due.org_id", "due.id"])
    .where(isPurgeable(now, registry, definition, "due"))
    .where(orgStays(now))
    .where("due.org_id", "<>", noneOf(leftOut))
    .orderBy("due.purge_time")
    .limit(limit)
    .execute();
}

export async function findPurgeableOrgs(
  db: Kysely<Schema>,
  registry: ResourceRegistry,
  { leftOut, limit }: Search,
): Promise<{ id: string }[]> {
  const now = await readClock(db);
  return db
    .selectFrom("orgs")
    .select("id")
    .where(isPurgeable(now, registry, orgDefinition))
    .where("id", "<>", noneOf(leftOut))
    .orderBy("purge_time")
    .limit(limit)
    .execute();
}

/** The location of a row: a position in its table. Another row may take it when this one has moved or is removed. */
export interface RowPlace {
  readonly table: OrgTable;
  readonly place: string;
}

/**
 * Finds rows in an org in the order of `tables`: rows that refer to others come first. After many deletions this takes a while,
 * because the database visits deleted rows until they are vacuumed. The caller must not hold a lock for that long.
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

/** Finds purgeable customers that have no org left. */
export async function findPurgeableCustomers(
  db: Kysely<Schema>,
  { leftOut, limit }: Search,
): Promise<{ id: string }[]> {
  const now = await readClock(db);
  return db
    .selectFrom("customers")
    .select("id")
    .where(isPastCustomer(now))
    .where(hasNoOrg)
    .where("id", "<>", noneOf(leftOut))
    .orderBy("purge_time")
    .limit(limit)
    .execute();
}

const noneOf = (ids: readonly string[]) => sql<string>`all(${ids}::uuid[])`;
