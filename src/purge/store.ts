// Statements that lock what is due and remove it.
import { type RawBuilder, type SqlBool, type Transaction, sql } from "kysely";
import { customerDefinition } from "../customers/definition.ts";
import { type CustomerRow, selectCustomers } from "../customers/store.ts";
import type { Schema } from "../database/schema.ts";
import { type MembershipRow, selectKeptMemberships } from "../group-members/membership-store.ts";
import { type MemberRow, selectMembers } from "../members/store.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { type OrgRow, selectOrgs } from "../orgs/store.ts";
import type { ResourceDefinition } from "../resource/definition.ts";
import type { ResourceRegistry } from "../resource/registry.ts";
import { forgetCounts } from "../resource/rows/counts.ts";
import { removeWhere } from "../resource/rows/remove-rows.ts";
import { idOf, isOneOf } from "../resource/rows/row-key.ts";
import { type RoleBindingRow, selectKeptRoleBindings } from "../role-bindings/store.ts";
import { hasExpired, hasNoOrg, isDue, isExpiredInvitation, isSpentRoleBinding, orgStays } from "./conditions.ts";
import type { MembershipPlace, RowPlace } from "./find-due.ts";
import { rowsOfMembers } from "./org-tables.ts";

type Db = Transaction<Schema>;
type Ids = readonly string[];

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

/** Those of some rows of a resource that are due. */
export async function readDue(db: Db, { storage }: ResourceDefinition, orgId: string, ids: Ids): Promise<object[]> {
  const { table, id } = storage;
  const isWanted = sql<SqlBool>`${sql.ref(`${table}.org_id`)} = ${orgId}
    and ${sql.ref(`${table}.${id}`)} = ${anyOf(ids)} and ${isDue(table)}`;
  const { rows } = await db.executeQuery(storage.select(db).where(isWanted).compile());
  return rows as object[];
}

/**
 * Removes up to `limit` rows of what refers to rows of a resource, the furthest first; answers how many. When they are fewer,
 * nothing is left: rows that somebody else is writing, as the last use of a key is, are waited for.
 */
export async function removeOwnedRows(
  db: Db,
  registry: ResourceRegistry,
  owner: ResourceDefinition,
  orgId: string,
  owners: readonly object[],
  limit: number,
): Promise<number> {
  const ids = owners.map((row) => idOf(owner, row));
  let removed = owner.type === "Member" ? await deleteOtherRowsOfMembers(db, orgId, ids, limit) : 0;
  for (const { definition, column } of registry.dependentsOf(owner.type)) {
    if (removed >= limit) break;
    const { table } = definition.storage;
    const { rows } = await sql<object & { place: string }>`
      select *, ctid::text as place from ${sql.table(table)}
      where org_id = ${orgId} and ${sql.ref(column)} = ${anyOf(ids)}
      limit ${limit - removed} for update`.execute(db);
    if (rows.length === 0) continue;
    removed += await removeOwnedRows(db, registry, definition, orgId, rows, limit - removed);
    const doomed = rows.slice(0, limit - removed);
    await removeDue(db, registry, definition, orgId, doomed);
    removed += doomed.length;
  }
  return removed;
}

async function deleteOtherRowsOfMembers(db: Db, orgId: string, ids: Ids, limit: number): Promise<number> {
  let deleted = 0;
  for (const { table, column } of rowsOfMembers) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any (array(
        select ctid from ${sql.table(table)} where org_id = ${orgId} and ${sql.ref(column)} = ${anyOf(ids)}
        limit ${limit - deleted} for update
      ))`.execute(db);
    deleted += Number(numAffectedRows);
  }
  return deleted;
}

/** Removes rows that nothing refers to any more. */
export async function removeDue(
  db: Db,
  registry: ResourceRegistry,
  definition: ResourceDefinition,
  orgId: string,
  rows: readonly object[],
): Promise<void> {
  if (rows.length === 0) return;
  await removeWhere(db, definition, isOneOf(definition, rows));
  if (registry.dependentsOf(definition.type).length === 0) return;
  await forgetCounts(
    db,
    orgId,
    rows.map((row) => idOf(definition, row)),
  );
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

export async function removeOrg(db: Db, org: OrgRow): Promise<void> {
  await removeWhere(db, orgDefinition, isOneOf(orgDefinition, [org]));
}

export async function removeCustomer(db: Db, customer: CustomerRow): Promise<void> {
  await removeWhere(db, customerDefinition, isOneOf(customerDefinition, [customer]));
}

const anyOf = (ids: Ids) => sql<string>`any(${ids}::uuid[])`;

/** The condition that a membership is one of these. */
function isAt(places: readonly MembershipPlace[]): RawBuilder<boolean> {
  const groups = places.map((place) => place.group_id);
  const members = places.map((place) => place.member_id);
  return sql`(group_members.group_id, group_members.member_id)
    in (select * from unnest(${groups}::uuid[], ${members}::uuid[]))`;
}
