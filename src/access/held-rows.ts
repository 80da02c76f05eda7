// What members and groups hold, as the tables have it under the lock of their org. What has not begun yet counts: it will.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { Schema } from "../database/schema.ts";
import type { GrantScope } from "./grants.ts";
import type { ScopeType } from "./scope-kinds.ts";

/** Something that a member or group holds, as the tables have it. */
export interface HeldRow {
  readonly scope_type: ScopeType;
  readonly scope_id: string | null;
  readonly predefined_role: string | null;
  /** Of a custom role. */
  readonly permissions: readonly string[] | null;
  /** Under which it is held; empty for always. */
  readonly condition: string;
}

/** What a group holds, with what the groups hold that it is nested in. */
export function heldByGroup({ db, org }: OrgTransaction, groupId: string): Promise<HeldRow[]> {
  return heldFrom(db, org.id, sql`select ${groupId}::uuid`, null);
}

export function heldByMember({ db, org }: OrgTransaction, memberId: string): Promise<HeldRow[]> {
  const groups = sql`
    select group_id from group_members
    where org_id = ${org.id} and member_id = ${memberId} and (expire_time is null or expire_time > now())`;
  return heldFrom(db, org.id, groups, memberId);
}

async function heldFrom(
  db: Kysely<Schema>,
  orgId: string,
  groups: ReturnType<typeof sql>,
  memberId: string | null,
): Promise<HeldRow[]> {
  const { rows } = await sql<HeldRow>`
    with recursive around (id) as (
      ${groups}
      union
      select subgroups.group_id
      from around join subgroups on subgroups.org_id = ${orgId} and subgroups.subgroup_id = around.id
    )
    select distinct scope_type, coalesce(project_id, customer_id, role_bindings.org_id) as scope_id, predefined_role,
      roles.permissions, condition
    from role_bindings
    left join roles on roles.org_id = role_bindings.org_id and roles.id = role_bindings.role_id
    where role_bindings.org_id = ${orgId} and (expire_time is null or expire_time > now())
      and (group_id in (select id from around) or member_id = ${memberId}::uuid)`.execute(db);
  return rows;
}

/** What the members and groups of an org hold under conditions. */
export async function heldByAll({ db }: OrgTransaction, orgId: string): Promise<HeldRow[]> {
  const { rows } = await sql<HeldRow>`${conditional(sql`role_bindings.org_id = ${orgId}`)}`.execute(db);
  return rows;
}

/** What counts in a scope under a condition, and for an org in its projects; also what members of other orgs hold. */
export async function heldConditionally({ db, org }: OrgTransaction, { kind, id }: GrantScope): Promise<HeldRow[]> {
  const ofPlatform = sql`scope_type = 'PLATFORM'`;
  const ofCustomer = (customerId: string) => sql`scope_type = 'CUSTOMER' and scope_id = ${customerId}`;
  const ofOrg = [sql`scope_type = 'ORG' and scope_id = ${org.id}`, ofCustomer(org.customer_id), ofPlatform];
  const scopes = {
    platform: [ofPlatform],
    customer: [ofCustomer(id), ofPlatform],
    org: [sql`role_bindings.org_id = ${org.id} and scope_type = 'PROJECT'`, ...ofOrg],
    project: [sql`scope_type = 'PROJECT' and scope_id = ${id}`, ...ofOrg],
  };
  const { rows } = await sql<HeldRow>`${sql.join(scopes[kind].map(conditional), sql` union all `)}`.execute(db);
  return rows;
}

function conditional(scope: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct scope_type, scope_id, predefined_role, roles.permissions, condition
    from role_bindings
    left join roles on roles.org_id = role_bindings.org_id and roles.id = role_bindings.role_id
    where condition <> '' and (expire_time is null or expire_time > now()) and ${scope}`;
}
