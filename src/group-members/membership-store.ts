import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/standard-methods.ts";

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
export function selectMemberships(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("groups", "groups.org_id", "orgs.id")
    .innerJoin("group_members", (join) =>
      join.onRef("group_members.org_id", "=", "groups.org_id").onRef("group_members.group_id", "=", "groups.id"),
    )
    .innerJoin("members", (join) =>
      join.onRef("members.org_id", "=", "group_members.org_id").onRef("members.id", "=", "group_members.member_id"),
    )
    .where(inForce)
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
  } as const;
  return readPage(db, listing, selection);
}

/** Adds a member to a group. A membership that has expired is replaced, as if it had been deleted. */
export async function insertMembership(
  { db, revision }: OrgTransaction,
  row: {
    readonly org_id: string;
    readonly group_id: string;
    readonly member_id: string;
    readonly expire_time: Date | null;
  },
): Promise<void> {
  await db
    .deleteFrom("group_members")
    .where("org_id", "=", row.org_id)
    .where("group_id", "=", row.group_id)
    .where("member_id", "=", row.member_id)
    .where("expire_time", "<=", sql<Date>`now()`)
    .execute();
  await db
    .insertInto("group_members")
    .values({ ...row, changed_revision: revision })
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

export async function deleteMembership({ db }: OrgTransaction, row: MembershipRow): Promise<void> {
  await db
    .deleteFrom("group_members")
    .where("org_id", "=", row.org_id)
    .where("group_id", "=", row.group_id)
    .where("member_id", "=", row.member_id)
    .execute();
}
