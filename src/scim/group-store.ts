import { type Kysely, sql } from "kysely";
import { statementTime } from "../database/clock.ts";
import type { Schema } from "../database/schema.ts";
import type { Source } from "./source.ts";
import type { Condition, Page } from "./user-store.ts";
import { fold } from "./values.ts";

export interface GroupRow {
  readonly id: string;
  readonly display_name: string;
  readonly external_id: string | null;
  readonly create_time: Date;
  readonly update_time: Date;
}

/** What is unique among the groups of a source. */
interface GroupKeys {
  readonly displayName: string;
  readonly externalId: string | undefined;
}

export interface GroupMemberRow {
  readonly group_id: string;
  readonly member_id: string;
  /** Whether it is in the group until a time. */
  readonly ends: boolean;
}

const ofSource = ({ customerId, orgId, id }: Source, where: Condition) => sql`
  from scim_groups
  join groups on groups.customer_id = scim_groups.customer_id and groups.org_id = scim_groups.org_id
    and groups.id = scim_groups.group_id
  where scim_groups.customer_id = ${customerId} and scim_groups.org_id = ${orgId} and scim_groups.source_id = ${id}
    and ${where}`;

export async function listGroupRows(
  db: Kysely<Schema>,
  source: Source,
  where: Condition,
  { offset, limit }: Page,
): Promise<readonly GroupRow[]> {
  const { rows } = await sql<GroupRow>`
    select groups.id, scim_groups.display_name, scim_groups.external_id, groups.create_time,
      greatest(groups.update_time, scim_groups.update_time) as update_time
    ${ofSource(source, where)} order by scim_groups.group_id limit ${limit} offset ${offset}`.execute(db);
  return rows;
}

export async function countGroups(db: Kysely<Schema>, source: Source, where: Condition): Promise<number> {
  const { rows } = await sql<{ total: number }>`select count(*)::int as total ${ofSource(source, where)}`.execute(db);
  return rows[0]?.total ?? 0;
}

/**
 * Returns the users of a source in groups.
 *
 * @param memberIds those that are asked about; undefined for all.
 */
export async function listGroupMembers(
  db: Kysely<Schema>,
  { customerId, orgId, id }: Source,
  groupIds: readonly string[],
  memberIds: readonly string[] | undefined,
  limit: number,
): Promise<readonly GroupMemberRow[]> {
  if (groupIds.length === 0) return [];
  const ofThese = memberIds === undefined ? sql`true` : sql`group_members.member_id = any(${memberIds}::uuid[])`;
  const { rows } = await sql<GroupMemberRow>`
    select group_members.group_id, group_members.member_id, group_members.expire_time is not null as ends
    from group_members
    join scim_users on scim_users.customer_id = group_members.customer_id and scim_users.org_id = group_members.org_id
      and scim_users.member_id = group_members.member_id and scim_users.source_id = ${id}
    join members on members.customer_id = group_members.customer_id and members.org_id = group_members.org_id
      and members.id = group_members.member_id
    where group_members.customer_id = ${customerId} and group_members.org_id = ${orgId}
      and group_members.group_id = any(${groupIds}::uuid[]) and members.delete_time is null
      and (group_members.expire_time is null or group_members.expire_time > ${statementTime}) and ${ofThese}
    order by group_members.group_id, group_members.member_id limit ${limit}`.execute(db);
  return rows;
}

/** Keeps what a source says of a group. */
export async function putGroup(
  db: Kysely<Schema>,
  { customerId, orgId, id }: Source,
  time: Date,
  groupId: string,
  { displayName, externalId }: GroupKeys,
): Promise<void> {
  await sql`
    insert into scim_groups (customer_id, org_id, source_id, group_id, display_name, display_key, external_id, update_time)
    values (${customerId}, ${orgId}, ${id}, ${groupId}, ${displayName}, ${fold(displayName)}, ${externalId ?? null}, ${time})
    on conflict (org_id, group_id, customer_id) do update
    set display_name = excluded.display_name, display_key = excluded.display_key, external_id = excluded.external_id,
      update_time = excluded.update_time`.execute(db);
}

/** Returns what another group of the source has already of what is to be unique. */
export async function findTakenOfGroups(
  db: Kysely<Schema>,
  { customerId, orgId, id }: Source,
  groupId: string | undefined,
  { displayName, externalId }: GroupKeys,
): Promise<"displayName" | "externalId" | undefined> {
  const { rows } = await sql<{ same_name: boolean }>`
    select display_key = ${fold(displayName)} as same_name from scim_groups
    where customer_id = ${customerId} and org_id = ${orgId} and source_id = ${id}
      and (display_key = ${fold(displayName)} or external_id = ${externalId ?? null})
      and group_id is distinct from ${groupId ?? null}::uuid
    order by same_name desc limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return row.same_name ? "displayName" : "externalId";
}
