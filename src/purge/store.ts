// Statements that lock what is due and remove it.
import { type RawBuilder, type Transaction, sql } from "kysely";
import { type CustomerRow, selectCustomers } from "../customers/store.ts";
import type { Schema } from "../database/schema.ts";
import { type MembershipRow, selectKeptMemberships } from "../group-members/membership-store.ts";
import { type MemberRow, selectMembers } from "../members/store.ts";
import { type OrgRow, selectOrgs } from "../orgs/store.ts";
import { hasExpired, hasNoOrg, isDue, isExpiredInvitation, isSpentRoleBinding, orgStays } from "./conditions.ts";
import { type RoleBindingRow, selectKeptRoleBindings } from "../role-bindings/store.ts";
import type { MembershipPlace, RowPlace } from "./find-due.ts";
import { ownedTables } from "./org-tables.ts";

type Db = Transaction<Schema>;
type Ids = readonly string[];
type OwnerTable = keyof typeof ownedTables;

/** What rows have of their org when they are selected with it. */
export type OfOrg = "org_name" | "org_delete_time";

/** Keeps other servers' jobs from an org, not its writers, until the transaction ends; false when another one is at it. */
export async function tryLockForPurge(db: Db, orgId: string): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`purge ${orgId}`}, 0)) as locked`.execute(db);
  return rows[0]?.locked ?? false;
}

/** Takes the lock of an org's writers, waiting for it; false when the org is gone or due itself. */
export async function lockOrgThatStays(db: Db, orgId: string): Promise<boolean> {
  const lock = db.selectFrom("orgs").select("id").where("id", "=", orgId).where(orgStays);
  return (await lock.modifyEnd(sql`for no key update`).executeTakeFirst()) !== undefined;
}

/** Takes the lock of an org that is due; undefined when it is no more, or someone else has the lock. */
export function lockDueOrg(db: Db, orgId: string): Promise<OrgRow | undefined> {
  return selectOrgs(db)
    .where("orgs.id", "=", orgId)
    .where(isDue("orgs"))
    .modifyEnd(sql`for update of orgs skip locked`)
    .executeTakeFirst();
}

/** The same for a customer; undefined, too, when it has an org. */
export function lockDueCustomer(db: Db, customerId: string): Promise<CustomerRow | undefined> {
  return selectCustomers(db)
    .where("id", "=", customerId)
    .where(isDue("customers"))
    .where(hasNoOrg)
    .modifyEnd(sql`for update skip locked`)
    .executeTakeFirst();
}

export function readExpiredInvitations(db: Db, orgId: string, ids: Ids): Promise<MemberRow[]> {
  return selectMembers(db)
    .where("members.org_id", "=", orgId)
    .where("members.id", "=", anyOf(ids))
    .where(isExpiredInvitation)
    .execute();
}

export function readExpiredMemberships(
  db: Db,
  orgId: string,
  places: readonly MembershipPlace[],
): Promise<MembershipRow[]> {
  return selectKeptMemberships(db)
    .where("group_members.org_id", "=", orgId)
    .where(isAt(places))
    .where(hasExpired)
    .execute();
}

export function readSpentRoleBindings(db: Db, orgId: string, ids: Ids): Promise<RoleBindingRow[]> {
  return selectKeptRoleBindings(db)
    .where("role_bindings.org_id", "=", orgId)
    .where("role_bindings.id", "=", anyOf(ids))
    .where(isSpentRoleBinding)
    .execute();
}

export async function deleteRoleBindings(db: Db, orgId: string, ids: Ids): Promise<void> {
  await db.deleteFrom("role_bindings").where("org_id", "=", orgId).where("id", "=", anyOf(ids)).execute();
}

export async function deleteMemberships(db: Db, orgId: string, places: readonly MembershipPlace[]): Promise<void> {
  await db.deleteFrom("group_members").where("org_id", "=", orgId).where(isAt(places)).execute();
}

/** Those of some members or projects that are due. */
export async function readDueIds(db: Db, table: OwnerTable, orgId: string, ids: Ids): Promise<string[]> {
  const rows = await db
    .selectFrom(table)
    .select("id")
    .where("org_id", "=", orgId)
    .where("id", "=", anyOf(ids))
    .where(isDue(table))
    .execute();
  return rows.map(({ id }) => id);
}

/** Deletes up to `limit` rows of what members or projects have; answers how many. When they are fewer, nothing is left. */
export async function deleteOwnedRows(
  db: Db,
  owners: OwnerTable,
  orgId: string,
  ids: Ids,
  limit: number,
): Promise<number> {
  let deleted = 0;
  for (const { table, column } of ownedTables[owners]) {
    // Rows that someone else is writing or removing are passed over.
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any (array(
        select ctid from ${sql.table(table)} where org_id = ${orgId} and ${sql.ref(column)} = ${anyOf(ids)}
        limit ${limit - deleted} for update skip locked
      ))`.execute(db);
    deleted += Number(numAffectedRows);
  }
  return deleted;
}

/** Deletes members or projects; answers their rows, without what is of their org. */
export function deleteOwners<Row>(db: Db, table: OwnerTable, orgId: string, ids: Ids): Promise<Omit<Row, OfOrg>[]> {
  const deleted = db
    .deleteFrom(table as "members")
    .where("org_id", "=", orgId)
    .where("id", "=", anyOf(ids))
    .returningAll();
  return deleted.execute() as Promise<unknown> as Promise<Omit<Row, OfOrg>[]>;
}

/** Deletes what is in an org, by where it was found; what is somewhere else by now is for another time. */
export async function deleteRowsOfOrg(db: Db, orgId: string, rows: readonly RowPlace[]): Promise<number> {
  let deleted = 0;
  for (const [table, found] of Map.groupBy(rows, (row) => row.table)) {
    const places = found.map(({ place }) => place);
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any (${places}::tid[]) and org_id = ${orgId}`.execute(db);
    deleted += Number(numAffectedRows);
  }
  return deleted;
}

export async function deleteOrg(db: Db, id: string): Promise<void> {
  await db.deleteFrom("orgs").where("id", "=", id).execute();
}

export async function deleteCustomer(db: Db, id: string): Promise<void> {
  await db.deleteFrom("customers").where("id", "=", id).execute();
}

const anyOf = (ids: Ids) => sql<string>`any(${ids}::uuid[])`;

/** The condition that a membership is one of these. */
function isAt(places: readonly MembershipPlace[]): RawBuilder<boolean> {
  const groups = places.map((place) => place.group_id);
  const members = places.map((place) => place.member_id);
  return sql`(group_members.group_id, group_members.member_id)
    in (select * from unnest(${groups}::uuid[], ${members}::uuid[]))`;
}
