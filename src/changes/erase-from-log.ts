// Erases a person, or a contact, from the logs. What names the person goes, with the keys of the commitments to it; the commitments
// stay, so the chain holds.
import { type RawBuilder, type SqlBool, sql } from "kysely";
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
  readonly impersonator_id: string | null;
  readonly method: string;
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
const named = {
  display_name: "",
  description: "",
  labels: {},
  email: null,
  subject: "",
  user_agent: "",
  allowed_addresses: null,
};

/** The methods that erase, whose entries say that it was done. */
export const eraseMethods: readonly string[] = [
  "iam.v1alpha.MembersService/EraseMember",
  "iam.v1alpha.ContactsService/EraseContact",
];

/** A member that is to be erased, or a contact, which has neither acted nor anything below it. */
interface Erased {
  readonly type: "Member" | "Contact";
  /** That of the customer, for a contact of a customer. */
  readonly orgId: string;
  readonly id: string;
}

/** Whether the log of the org, or that of the customer, has the member or contact. */
export async function isInLog(db: WriteTransaction, { type, orgId, id }: Erased): Promise<boolean> {
  const { rows } = await sql`
    select from changes where org_id = ${orgId} and resource_id = ${id} and resource_type = ${type} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/** Counts the entries from which a member or contact is to be erased. */
export async function countEntriesOf(db: WriteTransaction, erased: Erased): Promise<number> {
  const actors = await actorsOf(db, erased);
  let count = 0;
  for (const orgId of [erased.orgId, ...(await findLogs(db, erased, actors))]) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from changes where org_id = ${orgId} and ${isTheirs(orgId, erased, actors)}`.execute(
      db,
    );
    count += rows[0]?.count ?? 0;
  }
  return count;
}

/**
 * Erases a member or contact from up to `limit` entries of the logs of all orgs and customers: from its own calls, where they came from and what they
 * said; from entries about it and what is below it, the paths and names. To be called under the lock of its org, when it is gone.
 *
 * @returns how many entries were changed; fewer than `limit` if none is left.
 */
export async function eraseEntriesOf(db: WriteTransaction, erased: Erased, limit: number): Promise<number> {
  const actors = await actorsOf(db, erased);
  let count = await eraseInOrg(db, erased.orgId, erased, actors, limit);
  for (const orgId of count < limit ? await findLogs(db, erased, actors) : []) {
    if (count < limit) count += await eraseInOrg(db, orgId, erased, actors, limit - count);
  }
  return count;
}

async function eraseInOrg(
  db: WriteTransaction,
  orgId: string,
  erased: Erased,
  actors: readonly string[],
  limit: number,
): Promise<number> {
  const { rows } = await sql<Row>`
    select revision, position, ${entryTime} as time_text, actor_id, impersonator_id, method, resource_id, container_id, resource_path,
      credential_id, on_behalf_of, request_id, host(remote_address) as remote_address, user_agent, reason, before, after, hash, salt,
      erased
    from changes where org_id = ${orgId} and ${isTheirs(orgId, erased, actors)} limit ${limit} for update`.execute(db);
  for (const row of rows) await eraseFields(db, orgId, row, fieldsOf(row, erased.id));
  return rows.length;
}

/** Returns the member, and the applications as which it has acted: it can do so in its own org alone, whose log has the tokens. */
async function actorsOf(db: WriteTransaction, { orgId, id }: Erased): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct container_id as id from changes
    where org_id = ${orgId} and actor_id = ${id} and resource_type = 'Token' and container_id is not null`.execute(db);
  return [id, ...rows.map((row) => row.id)];
}

/** Finds the other orgs, and the customers, in whose logs it has acted. Those of purged customers stay: the org `system` has that they were. */
async function findLogs(db: WriteTransaction, erased: Erased, actors: readonly string[]): Promise<string[]> {
  if (erased.type === "Contact") return [];
  const { rows } = await sql<{ id: string }>`
    select id from orgs where id <> ${erased.orgId} and exists (
      select from changes where changes.customer_id = orgs.customer_id and changes.org_id = orgs.id and ${hasActed(erased, actors)})
    union all select id from customers where exists (
      select from changes where changes.customer_id = customers.id and changes.org_id = customers.id and ${hasActed(erased, actors)})
    union all select purges.resource_id from changes purges
    where purges.org_id = (select system_org_id from installation) and purges.resource_type = 'Customer' and purges.after is null
      and exists (select from changes where changes.customer_id = purges.resource_id and changes.org_id = purges.resource_id and ${hasActed(erased, actors)})`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

function isTheirs(orgId: string, erased: Erased, actors: readonly string[]): RawBuilder<SqlBool> {
  if (orgId !== erased.orgId) return hasActed(erased, actors);
  const { id } = erased;
  return sql<SqlBool>`(${hasActed(erased, actors)}
    or ((resource_id = ${id} or container_id = ${id}) and method <> all(${eraseMethods}::text[])
      and not coalesce(erased->'commitments' ? 'resource_path', false)))`;
}

function hasActed({ id }: Erased, actors: readonly string[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`(actor_id = any(${actors}::uuid[]) and (actor_id = ${id} or impersonator_id = ${id})
    and not coalesce(erased->'commitments' ? 'origin', false))`;
}

function fieldsOf(row: Row, id: string): CommittedField[] {
  const isAbout = !eraseMethods.includes(row.method) && (row.resource_id === id || row.container_id === id);
  const fields: readonly CommittedField[] = isAbout ? ["after", "before", "resource_path"] : [];
  return row.actor_id === id || row.impersonator_id === id ? ["origin", ...fields] : [...fields];
}

async function eraseFields(db: WriteTransaction, orgId: string, row: Row, fields: CommittedField[]): Promise<void> {
  const isErased = (field: CommittedField): boolean => fields.includes(field);
  const origin = isErased("origin");
  await sql`
    update changes set salt = null, erased = ${JSON.stringify(keptOf(row, fields))}::jsonb,
      resource_path = ${isErased("resource_path") ? "" : row.resource_path},
      before = ${textOf(isErased("before") ? withoutNames(row, row.before) : row.before)}::jsonb,
      after = ${textOf(isErased("after") ? withoutNames(row, row.after) : row.after)}::jsonb,
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

/** The name is the id instead: snapshots that follow the log tell members apart by names. */
function withoutNames({ resource_id: id }: Row, columns: object | null): object | null {
  if (columns === null) return null;
  const left: Readonly<Record<string, unknown>> = { ...named, name: `@${id}` };
  return Object.fromEntries(
    Object.entries(columns).map(([column, value]: [string, unknown]) => [
      column,
      Object.hasOwn(left, column) ? left[column] : value,
    ]),
  );
}
