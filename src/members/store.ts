import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { deletableColumnsOf, namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Members, Schema } from "../database/schema.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type NamedFields, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/standard-methods.ts";

export type MemberRow = InferResult<ReturnType<typeof selectMembers>>[number];

/** All members, with what their paths need. */
export function selectMembers(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("members", "members.org_id", "orgs.id")
    .select(["members.org_id", "members.type", "members.state"])
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
    live: sql<boolean>`members.delete_time is null`,
  } as const;
  return readPage(db, listing, selection);
}

export async function insertMember(
  { db, org, revision }: OrgTransaction,
  fields: NamedFields & { readonly type: Members["type"] },
): Promise<MemberRow> {
  const row = await db
    .insertInto("members")
    .values({ org_id: org.id, type: fields.type, state: "ACTIVE", ...newNamedColumns(fields, revision) })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, org_name: org.name, org_delete_time: org.delete_time };
}
