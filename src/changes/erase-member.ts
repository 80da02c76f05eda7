// Erases a person from a log. What names the person goes, with the keys of the commitments to it; the commitments stay, so the chain holds.
import { type SqlBool, sql } from "kysely";
import type { ErasedFields } from "../database/log-tables.ts";
import type { WriteTransaction } from "../database/write-transaction.ts";
import { entryTime } from "./entry-proof.ts";
import { type CommittedField, commit, committedFields, committedTexts, fieldKey } from "./entry-record.ts";

/** An entry whose fields are erased. */
interface Row {
  readonly revision: string;
  readonly position: number;
  readonly time_text: string;
  readonly actor_id: string | null;
  readonly resource_id: string;
  readonly container_id: string | null;
  readonly resource_path: string;
  readonly credential_id: string | null;
  readonly on_behalf_of: string | null;
  readonly request_id: string | null;
  readonly remote_address: string | null;
  readonly user_agent: string | null;
  readonly reason: string | null;
  readonly before: object | null;
  readonly after: object | null;
  readonly hash: Buffer | null;
  readonly salt: Buffer | null;
  readonly erased: ErasedFields | null;
}

/** The columns of a logged row that name a person, and what is left of each. */
const named = { name: "", display_name: "", description: "", labels: {}, subject: "", user_agent: "" };

/**
 * Erases a member from up to `limit` entries of its org: from its own calls, where they came from and what they said, from entries about it
 * and what is below it, the paths and names. To be called under the lock of the org.
 *
 * @returns how many entries were changed; fewer than `limit` if none is left.
 */
export async function eraseMember(
  db: WriteTransaction,
  orgId: string,
  memberId: string,
  limit: number,
): Promise<number> {
  const isTheirs = sql<SqlBool>`
    (actor_id = ${memberId} and not coalesce(erased->'commitments' ? 'origin', false))
    or ((resource_id = ${memberId} or container_id = ${memberId})
      and not coalesce(erased->'commitments' ? 'resource_path', false))`;
  const { rows } = await sql<Row>`
    select revision, position, ${entryTime} as time_text, actor_id, resource_id, container_id, resource_path, credential_id,
      on_behalf_of, request_id, host(remote_address) as remote_address, user_agent, reason, before, after, hash, salt, erased
    from changes where org_id = ${orgId} and (${isTheirs}) limit ${limit} for update`.execute(db);
  for (const row of rows) await eraseFields(db, orgId, row, fieldsOf(row, memberId));
  return rows.length;
}

function fieldsOf({ actor_id: actor, resource_id, container_id }: Row, memberId: string): CommittedField[] {
  const isAbout = resource_id === memberId || container_id === memberId;
  const fields: readonly CommittedField[] = isAbout ? ["after", "before", "resource_path"] : [];
  return actor === memberId ? ["origin", ...fields] : [...fields];
}

async function eraseFields(db: WriteTransaction, orgId: string, row: Row, fields: CommittedField[]): Promise<void> {
  const isErased = (field: CommittedField): boolean => fields.includes(field);
  const origin = isErased("origin");
  await sql`
    update changes set salt = null, erased = ${JSON.stringify(keptOf(row, fields))}::jsonb,
      resource_path = ${isErased("resource_path") ? "" : row.resource_path},
      before = ${textOf(isErased("before") ? withoutNames(row.before) : row.before)}::jsonb,
      after = ${textOf(isErased("after") ? withoutNames(row.after) : row.after)}::jsonb,
      credential_id = ${origin ? null : row.credential_id}, on_behalf_of = ${origin ? null : row.on_behalf_of},
      request_id = ${origin ? null : row.request_id},
      remote_address = ${origin ? null : row.remote_address}, user_agent = ${origin ? null : row.user_agent},
      reason = ${origin ? null : row.reason}
    where org_id = ${orgId} and revision = ${row.revision} and position = ${row.position}
      and time = ${row.time_text}::timestamptz`.execute(db);
}

/** Returns the keys of the fields that stay, and the commitments to all that was ever erased. */
function keptOf(row: Row, fields: readonly CommittedField[]): ErasedFields {
  const salt = row.salt?.toString("hex");
  const keys: Record<string, string> = {};
  const commitments: Record<string, string> = { ...row.erased?.commitments };
  const texts = committedTexts(row);
  for (const field of committedFields) {
    const key = salt === undefined ? row.erased?.keys[field] : fieldKey(salt, field);
    const text = texts[field];
    if (key === undefined || Object.hasOwn(commitments, field)) continue;
    if (!fields.includes(field)) keys[field] = key;
    else if (text !== null) commitments[field] = commit(key, text);
  }
  // An entry of an earlier format has no commitments; that it is erased is all there is to say.
  if (row.hash === null) for (const field of fields) commitments[field] = "";
  return { keys, commitments };
}

const textOf = (row: object | null): string | null => (row === null ? null : JSON.stringify(row));

function withoutNames(row: object | null): object | null {
  if (row === null) return null;
  return Object.fromEntries(
    Object.entries(row).map(([column, value]: [string, unknown]) => [
      column,
      Object.hasOwn(named, column) ? named[column as keyof typeof named] : value,
    ]),
  );
}
