import { type InferResult, type Kysely, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { anyOf } from "../database/any-of.ts";
import { namedColumnsOf } from "../database/columns.ts";
import { matchesPath } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import type { MemberRow } from "../members/store.ts";
import type { Reference } from "../paths/resource-path.ts";
import { inOrder } from "../resource/in-order.ts";
import { type NamedFields, namedColumns, newNamedColumns } from "../resource/named-fields.ts";
import { readPage } from "../resource/read-page.ts";
import { required } from "../resource/required.ts";
import type { Selection } from "../resource/resource.ts";

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
    parentColumns: ["api_keys.org_id", "api_keys.member_id"],
  } as const;
  return readPage(db, listing, selection);
}

type Owner = Pick<MemberRow, "id" | "name" | "delete_time">;

/** What of an API key its owner does not choose. */
export interface NewKey {
  readonly prefix: string;
  readonly hash: Buffer;
  readonly expire_time: Date | null;
}

export async function insertApiKey(
  transaction: OrgTransaction,
  member: Owner,
  fields: NamedFields,
  key: NewKey,
): Promise<ApiKeyRow> {
  const [row] = await insertApiKeys(transaction, member, [{ fields, key }]);
  return required(row);
}

/** Gives a member several API keys, in order. */
export async function insertApiKeys(
  { db, org, revision }: OrgTransaction,
  member: Owner,
  keys: readonly { readonly fields: NamedFields; readonly key: NewKey }[],
): Promise<ApiKeyRow[]> {
  const values = keys.map(({ fields, key: { prefix, hash, expire_time } }) => ({
    org_id: org.id,
    member_id: member.id,
    prefix,
    hash,
    expire_time,
    ...newNamedColumns(fields, revision),
  }));
  const rows = await db.insertInto("api_keys").values(values).returning(columns).execute();
  return inOrder(values, rows).map((row) => ({
    ...row,
    org_name: org.name,
    org_delete_time: org.delete_time,
    member_name: member.name,
    member_delete_time: member.delete_time,
  }));
}

export async function updateApiKey(
  { db, revision }: OrgTransaction,
  row: ApiKeyRow,
  fields: NamedFields,
): Promise<ApiKeyRow> {
  const updated = await db
    .updateTable("api_keys")
    .set({ ...namedColumns(fields), changed_revision: revision, update_time: sql`now()` })
    .where("org_id", "=", row.org_id)
    .where("member_id", "=", row.member_id)
    .where("id", "=", row.id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  return { ...row, ...updated };
}

/** Deletes API keys of one member. */
export async function deleteApiKeys({ db, org }: OrgTransaction, rows: readonly ApiKeyRow[]): Promise<void> {
  await db
    .deleteFrom("api_keys")
    .where("org_id", "=", org.id)
    .where("member_id", "=", required(rows[0]).member_id)
    .where("id", "=", anyOf(rows.map(({ id }) => id)))
    .execute();
}
