import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { anyOf } from "../database/any-of.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { readPage } from "../resource/read-page.ts";
import { required } from "../resource/required.ts";
import type { Selection } from "../resource/resource.ts";

export type MembershipRow = InferResult<ReturnType<typeof selectMemberships>>[number];

/** Memberships that count: not expired, of members who are not deleted. */
const inForce = sql<boolean>`(members.delete_time is null
  and (group_members.expire_time is null or group_members.expire_time > now()))`;

const columns = [
  "group_members.org_id",
  "group_members.group_id",
  "group_members.member_id",
  "group_members.expire_time",
  "group_members.changed_revision",
  "group_members.create_time",
  "group_members.update_time",
] as const;

/** All memberships in force, with the fields of their members that lists show and what their paths need. */
export const selectMemberships = (db: Kysely<Schema>) => selectKeptMemberships(db).where(inForce);

/** The same of all that are kept, in force or not. */
export function selectKeptMemberships(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("groups", "groups.org_id", "orgs.id")
    .innerJoin("group_members", (join) =>
      join.onRef("group_members.org_id", "=", "groups.org_id").onRef("group_members.group_id", "=", "groups.id"),
    )
    .innerJoin("members", (join) =>
      join.onRef("members.org_id", "=", "group_members.org_id").onRef("members.id", "=", "group_members.member_id"),
    )
    .select(columns)
    .select([
      "orgs.name as org_name",
      "orgs.delete_time as org_delete_time",
      "groups.name as group_name",
      "members.name as member_name",
      "members.display_name",
      "members.type",
      "members.state",
      "members.delete_time as member_delete_time",
    ]);
}

export function findMembership(db: Kysely<Schema>, path: readonly Reference[]): Promise<MembershipRow | undefined> {
  return selectMemberships(db)
    .where(matchesPath(["orgs", "groups", "members"], path))
    .executeTakeFirst();
}

export function readMembershipsPage(db: Kysely<Schema>, selection: Selection): Promise<MembershipRow[]> {
  const listing = {
    rows: selectMemberships(db),
    parentTables: ["orgs", "groups"],
    parentColumns: ["group_members.org_id", "group_members.group_id"],
  } as const;
  return readPage(db, listing, selection);
}

/** Adds members to a group. Memberships that have expired are replaced, as if they had been deleted. */
export async function insertMemberships(
  { db, org, revision }: OrgTransaction,
  groupId: string,
  rows: readonly { readonly member_id: string; readonly expire_time: Date | null }[],
): Promise<void> {
  const added = { org_id: org.id, group_id: groupId, changed_revision: revision };
  await db
    .deleteFrom("group_members")
    .where("org_id", "=", org.id)
    .where("group_id", "=", groupId)
    .where("member_id", "=", anyOf(rows.map((row) => row.member_id)))
    .where("expire_time", "<=", sql<Date>`now()`)
    .execute();
  await db
    .insertInto("group_members")
    .values(rows.map((row) => ({ ...added, ...row })))
    .execute();
}

export async function updateMembership(
  { db, revision }: OrgTransaction,
  row: MembershipRow,
  expireTime: Date | null,
): Promise<MembershipRow> {
  const updated = await db
    .updateTable("group_members")
    .set({ expire_time: expireTime, changed_revision: revision, update_time: sql`now()` })
    .where("org_id", "=", row.org_id)
    .where("group_id", "=", row.group_id)
    .where("member_id", "=", row.member_id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, ...updated };
}

/** Takes members out of one group. */
export async function deleteMemberships({ db, org }: OrgTransaction, rows: readonly MembershipRow[]): Promise<void> {
  await db
    .deleteFrom("group_members")
    .where("org_id", "=", org.id)
    .where("group_id", "=", required(rows[0]).group_id)
    .where("member_id", "=", anyOf(rows.map((row) => row.member_id)))
    .execute();
}
