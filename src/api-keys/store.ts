import type { InferResult, Kysely } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { MemberRow } from "../members/store.ts";
import type { Reference } from "../paths/resource-path.ts";
import { type NamedFields, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import type { Selection } from "../resource/standard-methods.ts";

export type ApiKeyRow = InferResult<ReturnType<typeof selectApiKeys>>[number];

const columns = [
  "api_keys.org_id",
  "api_keys.member_id",
  "api_keys.prefix",
  "api_keys.expire_time",
  "api_keys.last_use_time",
  ...namedColumnsOf("api_keys"),
] as const;

/** All API keys without their hashes, with what their paths need. */
export function selectApiKeys(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("members", "members.org_id", "orgs.id")
    .innerJoin("api_keys", (join) =>
      join.onRef("api_keys.org_id", "=", "members.org_id").onRef("api_keys.member_id", "=", "members.id"),
    )
    .select(columns)
    .select([
      "orgs.name as org_name",
      "orgs.delete_time as org_delete_time",
      "members.name as member_name",
      "members.delete_time as member_delete_time",
    ]);
}

export function findApiKey(db: Kysely<Schema>, path: readonly Reference[]): Promise<ApiKeyRow | undefined> {
  return selectApiKeys(db)
    .where(matchesPath(["orgs", "members", "api_keys"], path))
    .executeTakeFirst();
}

export function readApiKeysPage(db: Kysely<Schema>, selection: Selection): Promise<ApiKeyRow[]> {
  const listing = {
    rows: selectApiKeys(db),
    parentTables: ["orgs", "members"],
  } as const;
  return readPage(db, listing, selection);
}

export async function insertApiKey(
  { db, org, revision }: OrgTransaction,
  member: Pick<MemberRow, "id" | "name" | "delete_time">,
  fields: NamedFields,
  key: { readonly prefix: string; readonly hash: Buffer; readonly expire_time: Date | null },
): Promise<ApiKeyRow> {
  const row = await db
    .insertInto("api_keys")
    .values({ org_id: org.id, member_id: member.id, ...key, ...newNamedColumns(fields, revision) })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return {
    ...row,
    org_name: org.name,
    org_delete_time: org.delete_time,
    member_name: member.name,
    member_delete_time: member.delete_time,
  };
}

export async function deleteApiKey({ db }: OrgTransaction, row: ApiKeyRow): Promise<void> {
  await db
    .deleteFrom("api_keys")
    .where("org_id", "=", row.org_id)
    .where("member_id", "=", row.member_id)
    .where("id", "=", row.id)
    .execute();
}
