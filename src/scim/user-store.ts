import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "../database/schema.ts";
import type { UserAttributes } from "../database/scim-tables.ts";
import type { Source } from "./source.ts";
import { fold } from "./values.ts";

export interface UserRow {
  readonly id: string;
  readonly state: "INVITED" | "ACTIVE" | "SUSPENDED";
  readonly attributes: UserAttributes;
  readonly create_time: Date;
  readonly update_time: Date;
}

/** Which of the rows of a source: all of them by default. */
export type Condition = RawBuilder<unknown>;

/** The rows that count: of members that are not deleted. */
const ofSource = ({ customerId, orgId, id }: Source, where: Condition) => sql`
  from scim_users
  join members on members.customer_id = scim_users.customer_id and members.org_id = scim_users.org_id
    and members.id = scim_users.member_id
  where scim_users.customer_id = ${customerId} and scim_users.org_id = ${orgId} and scim_users.source_id = ${id}
    and members.delete_time is null and ${where}`;

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

export async function listUserRows(
  db: Kysely<Schema>,
  source: Source,
  where: Condition,
  { offset, limit }: Page,
): Promise<readonly UserRow[]> {
  const { rows } = await sql<UserRow>`
    select members.id, members.state, scim_users.attributes, members.create_time,
      greatest(members.update_time, scim_users.update_time) as update_time
    ${ofSource(source, where)} order by scim_users.member_id limit ${limit} offset ${offset}`.execute(db);
  return rows;
}

export async function countUsers(db: Kysely<Schema>, source: Source, where: Condition): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*)::int as total ${ofSource(source, where)}`.execute(db);
  return rows[0]?.total ?? 0;
}

/** Returns which of these ids are those of users of a source. */
export async function findUserIds(
  db: Kysely<Schema>,
  source: Source,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select members.id ${ofSource(source, sql`scim_users.member_id = any(${ids}::uuid[])`)}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Keeps what a source says of a member. */
export async function putUser(
  db: Kysely<Schema>,
  { customerId, orgId, id }: Source,
  time: Date,
  memberId: string,
  attributes: UserAttributes,
  displayName: string,
): Promise<void> {
  const { userName, externalId = null, emails = [] } = attributes;
  const addresses = emails.map(({ value }) => fold(value));
  await sql`
    insert into scim_users (customer_id, org_id, source_id, member_id, user_key, display_key, external_id, emails,
      attributes, update_time)
    values (${customerId}, ${orgId}, ${id}, ${memberId}, ${fold(userName)}, ${fold(displayName)}, ${externalId},
      ${addresses}, ${JSON.stringify(attributes)}, ${time})
    on conflict (org_id, member_id, customer_id) do update
    set user_key = excluded.user_key, display_key = excluded.display_key, external_id = excluded.external_id,
      emails = excluded.emails, attributes = excluded.attributes, update_time = excluded.update_time`.execute(db);
}

/**
 * Returns the ids of users whose members are deleted and that have what another one is to have.
 *
 * @param subject at the identity provider of the source; undefined for none.
 */
export async function findDeletedUsers(
  db: Kysely<Schema>,
  { customerId, orgId, id, providerId }: Source,
  { userName, externalId }: UserAttributes,
  subject: string | undefined,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select members.id from scim_users
    join members on members.customer_id = scim_users.customer_id and members.org_id = scim_users.org_id
      and members.id = scim_users.member_id
    where scim_users.customer_id = ${customerId} and scim_users.org_id = ${orgId} and scim_users.source_id = ${id}
      and members.delete_time is not null
      and (scim_users.user_key = ${fold(userName)} or scim_users.external_id = ${externalId ?? null}
        or scim_users.member_id = (
          select member_id from identities
          where customer_id = ${customerId} and org_id = ${orgId} and provider_id = ${providerId}
            and subject = ${subject ?? null}))`.execute(db);
  return rows.map((row) => row.id);
}

/** Forgets that the source manages these members, and what it has said of them. */
export async function forgetUsers(
  db: Kysely<Schema>,
  { customerId, orgId, id }: Source,
  memberIds: readonly string[],
): Promise<void> {
  await sql`
    delete from scim_users
    where customer_id = ${customerId} and org_id = ${orgId} and source_id = ${id}
      and member_id = any(${memberIds}::uuid[])`.execute(db);
}

/** Returns what another user of the source has already of what is to be unique. */
export async function findTaken(
  db: Kysely<Schema>,
  { customerId, orgId, id }: Source,
  memberId: string | undefined,
  { userName, externalId }: UserAttributes,
): Promise<"userName" | "externalId" | undefined> {
  const { rows } = await sql<{ same_name: boolean }>`
    select user_key = ${fold(userName)} as same_name from scim_users
    where customer_id = ${customerId} and org_id = ${orgId} and source_id = ${id}
      and (user_key = ${fold(userName)} or external_id = ${externalId ?? null})
      and member_id is distinct from ${memberId ?? null}::uuid
    order by same_name desc limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return row.same_name ? "userName" : "externalId";
}

/** Reports whether a name in paths is that of a member, or of a group, of the org. */
export async function isNameTaken(
  db: Kysely<Schema>,
  { customerId, orgId }: Source,
  table: "members" | "groups",
  name: string,
): Promise<boolean> {
  const lives = table === "members" ? sql`and delete_time is null` : sql``;
  const { rows } = await sql`
    select from ${sql.table(table)}
    where customer_id = ${customerId} and org_id = ${orgId} and name = ${name} ${lives}`.execute(db);
  return rows.length > 0;
}

/** Returns the ids of the identities of a member. */
export async function findIdentityIds(
  db: Kysely<Schema>,
  { customerId, orgId }: Source,
  memberId: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from identities
    where customer_id = ${customerId} and org_id = ${orgId} and member_id = ${memberId}`.execute(db);
  return rows.map(({ id }) => id);
}
