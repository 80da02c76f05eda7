// What members and groups hold, as the tables have it under the lock of their org. What has not begun yet counts: it will.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import type { GrantScope } from "../grants.ts";
import { type ScopeKind, type ScopeType, scopeKindOf, scopeTypeOf } from "../scope-kinds.ts";

/** A role that a member or group holds somewhere. */
export interface HeldGrant {
  readonly scope: GrantScope;
  /** A predefined role by its name, or what a custom one has. */
  readonly role: { readonly predefined: string } | { readonly permissions: readonly string[] };
  /** Under which it is held; empty for always. */
  readonly condition: string;
}

interface GrantRow {
  readonly scope_type: ScopeType;
  readonly scope_id: string | null;
  readonly predefined_role: string | null;
  /** Of a custom role. */
  readonly permissions: readonly string[] | null;
  readonly condition: string;
}

function toHeldGrant(row: GrantRow): HeldGrant {
  const { predefined_role: predefined, permissions, condition } = row;
  return {
    scope: { kind: scopeKindOf(row.scope_type), id: row.scope_id ?? "" },
    role: predefined === null ? { permissions: permissions ?? [] } : { predefined },
    condition,
  };
}

/** The permissions of a custom role of the org; empty when there is none. */
export async function readRolePermissions({ db, org }: OrgTransaction, id: string): Promise<readonly string[]> {
  const roles = db.selectFrom("roles").select("permissions").where("org_id", "=", org.id).where("id", "=", id);
  return (await roles.executeTakeFirst())?.permissions ?? [];
}

/** What a group holds, with what the groups hold that it is nested in. */
export function heldByGroup({ db, org }: OrgTransaction, groupId: string): Promise<HeldGrant[]> {
  return heldFrom(db, org.id, sql`select ${groupId}::uuid`, null);
}

export function heldByMember({ db, org }: OrgTransaction, memberId: string): Promise<HeldGrant[]> {
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
): Promise<HeldGrant[]> {
  const { rows } = await sql<GrantRow>`
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
  return rows.map(toHeldGrant);
}

/** What the members and groups of an org hold under conditions. */
export async function heldByAll({ db }: OrgTransaction, orgId: string): Promise<HeldGrant[]> {
  const { rows } = await sql<GrantRow>`${conditional(sql`role_bindings.org_id = ${orgId}`)}`.execute(db);
  return rows.map(toHeldGrant);
}

/** What counts in a scope under a condition, and for an org in its projects; also what members of other orgs hold. */
export async function heldConditionally({ db, org }: OrgTransaction, { kind, id }: GrantScope): Promise<HeldGrant[]> {
  const onPlatform = sql`scope_type = 'PLATFORM'`;
  const aroundOrg = [inScope("org", org.id), inScope("customer", org.customer_id), onPlatform];
  const scopes = {
    platform: [onPlatform],
    customer: [inScope("customer", id), onPlatform],
    org: [sql`role_bindings.org_id = ${org.id} and scope_type = 'PROJECT'`, ...aroundOrg],
    project: [inScope("project", id), ...aroundOrg],
  };
  const { rows } = await sql<GrantRow>`${sql.join(scopes[kind].map(conditional), sql` union all `)}`.execute(db);
  return rows.map(toHeldGrant);
}

/** The type is written out, so that partial indexes on it are used. */
function inScope(kind: ScopeKind, id: string): RawBuilder<unknown> {
  return sql`scope_type = ${sql.lit(scopeTypeOf(kind))} and scope_id = ${id}`;
}

function conditional(scope: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct scope_type, scope_id, predefined_role, roles.permissions, condition
    from role_bindings
    left join roles on roles.org_id = role_bindings.org_id and roles.id = role_bindings.role_id
    where condition <> '' and (expire_time is null or expire_time > now()) and ${scope}`;
}
