import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { deletableColumnsOf, namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Members, Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { inOrder } from "../resource/in-order.ts";
import { type NamedFields, namedColumns, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import { required } from "../resource/required.ts";
import type { Selection } from "../resource/resource.ts";

export type MemberRow = InferResult<ReturnType<typeof selectMembers>>[number];

/** All members, with what their paths need. */
export function selectMembers(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("members", "members.org_id", "orgs.id")
    .select(["members.org_id", "members.type", "members.state", "members.invitation_expire_time"])
    .select([...namedColumnsOf("members"), ...deletableColumnsOf("members")])
    .select(["orgs.name as org_name", "orgs.delete_time as org_delete_time"]);
}

export function findMember(db: Kysely<Schema>, path: readonly Reference[]): Promise<MemberRow | undefined> {
  return selectMembers(db)
    .where(matchesPath(["orgs", "members"], path))
    .executeTakeFirst();
}

export function readMembersPage(db: Kysely<Schema>, selection: Selection): Promise<MemberRow[]> {
  const listing = {
    rows: selectMembers(db),
    parentTables: ["orgs"],
    parentColumns: ["members.org_id"],
    labelled: { type: "Member", id: "members.id" },
    live: sql<boolean>`members.delete_time is null`,
  } as const;
  return readPage(db, listing, selection);
}

export interface NewMember extends NamedFields {
  readonly type: Members["type"];
}

/** Inserts one that is a member at once. */
export async function insertMember(transaction: OrgTransaction, member: NewMember): Promise<MemberRow> {
  const [row] = await insertMembers(transaction, [{ ...member, expireTime: null }]);
  return required(row);
}

/** Inserts members in order; `expireTime` is that of an invitation, null for those who are members at once. */
export async function insertMembers(
  { db, org, revision }: OrgTransaction,
  members: readonly (NewMember & { readonly expireTime: Date | null })[],
): Promise<MemberRow[]> {
  const values = members.map(({ type, expireTime, ...fields }) => ({
    org_id: org.id,
    type,
    state: expireTime === null ? ("ACTIVE" as const) : ("INVITED" as const),
    invitation_expire_time: expireTime,
    ...newNamedColumns(fields, revision),
  }));
  const rows = await db.insertInto("members").values(values).returningAll().execute();
  return inOrder(values, rows).map((row) => ({ ...row, org_name: org.name, org_delete_time: org.delete_time }));
}

export async function updateMember(
  { db, revision }: OrgTransaction,
  row: MemberRow,
  fields: NamedFields,
  invitationExpireTime: Date | null,
): Promise<MemberRow> {
  const columns = { ...namedColumns(fields), invitation_expire_time: invitationExpireTime };
  const updated = await db
    .updateTable("members")
    .set({ ...columns, changed_revision: revision, update_time: sql`now()` })
    .where("org_id", "=", row.org_id)
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, ...updated };
}
