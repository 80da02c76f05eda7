// What members and groups hold, read from the tables under the lock of their org. Bindings that start in the future count.
import { type RawBuilder, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { GrantScope } from "./guard-types.ts";
import { type ScopeKind, type ScopeType, scopeKindOf, scopeTypeOf } from "../scope-kinds.ts";

/** A role that a member or group holds on a scope. */
export interface EffectiveGrant {
  readonly scope: GrantScope;
  /** A predefined role by name, or the permissions of a custom role. */
  readonly role: { readonly predefined: string } | { readonly permissions: readonly string[] };
  /** The condition under which the role is held; empty for none. */
  readonly condition: string;
}

interface GrantRow {
  readonly scope_type: ScopeType;
  readonly scope_id: string | null;
  readonly predefined_role: string | null;
  /** The permissions of a custom role; null for a predefined role. */
  readonly permissions: readonly string[] | null;
  readonly condition: string;
}

function toEffectiveGrant(row: GrantRow): EffectiveGrant {
  const { predefined_role: predefined, permissions, condition } = row;
  return {
    scope: { kind: scopeKindOf(row.scope_type), id: row.scope_id ?? "" },
    role: predefined === null ? { permissions: permissions ?? [] } : { predefined },
    condition,
  };
}

/** Returns the permissions of custom roles of the org by id, without roles that do not exist. */
export async function readRolePermissions(
  { db, org }: OrgTransaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (ids.length === 0) return new Map();
  const roles = db.selectFrom("roles").select(["id", "permissions"]).where("org_id", "=", org.id);
  const found = await roles.where("id", "in", ids).execute();
  return new Map(found.map(({ id, permissions }) => [id, permissions]));
}

/** Returns those of the custom roles that are granted to anybody, or to anybody except one member. */
export async function findGrantedRoles(
  { db, org }: OrgTransaction,
  ids: readonly string[],
  exceptMemberId: string | null,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select id from unnest(${ids}::uuid[]) as given (id)
    where exists (
      select from role_bindings
      where org_id = ${org.id} and role_id = given.id and (expire_time is null or expire_time > ${org.lockTime})
        and (${exceptMemberId}::uuid is null or member_id is distinct from ${exceptMemberId}::uuid)
    )`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

interface Holders {
  readonly members?: readonly string[];
  readonly groups?: readonly string[];
}

/** Returns the grants of members and groups, including those of the groups that they are in, directly or indirectly. */
export async function heldBy(
  { db, org }: OrgTransaction,
  { members = [], groups = [] }: Holders,
): Promise<EffectiveGrant[]> {
  if (members.length === 0 && groups.length === 0) return [];
  // Two selects, each with its index: the planner would read all bindings of the org for an `or`.
  const { rows } = await sql<GrantRow>`
    with recursive around (id) as (
      (
        select unnest(${groups}::uuid[])
        union
        select group_id from group_members
        where org_id = ${org.id} and member_id = any(${members}::uuid[]) and (expire_time is null or expire_time > ${org.lockTime})
      )
      union
      select subgroups.group_id
      from around join subgroups on subgroups.org_id = ${org.id} and subgroups.subgroup_id = around.id
    ), granted as (
      select * from role_bindings where org_id = ${org.id} and group_id = any(array(select id from around))
      union all
      select * from role_bindings where org_id = ${org.id} and member_id = any(${members}::uuid[])
    )
    select distinct scope_type, scope_id, predefined_role, roles.permissions, condition
    from granted
    left join roles on roles.org_id = ${org.id} and roles.id = granted.role_id
    where expire_time is null or expire_time > ${org.lockTime}`.execute(db);
  return rows.map(toEffectiveGrant);
}

/** Returns the conditional grants of the members and groups of an org. */
export async function heldByAll({ db, org }: OrgTransaction, orgId: string): Promise<EffectiveGrant[]> {
  const { rows } = await sql<GrantRow>`${conditional(org.lockTime, sql`role_bindings.org_id = ${orgId}`)}`.execute(db);
  return rows.map(toEffectiveGrant);
}

/**
 * Returns the conditional grants that apply in a scope and, for an org, in its projects. Includes those of members of other
 * orgs.
 */
export async function heldConditionally(
  { db, org }: OrgTransaction,
  { kind, id }: GrantScope,
): Promise<EffectiveGrant[]> {
  const onPlatform = sql`scope_type = 'PLATFORM'`;
  const aroundOrg = [inScope("org", org.id), inScope("customer", org.customer_id), onPlatform];
  const scopes = {
    platform: [onPlatform],
    customer: [inScope("customer", id), onPlatform],
    service: [inScope("service", id), onPlatform],
    org: [sql`role_bindings.org_id = ${org.id} and scope_type = 'PROJECT'`, ...aroundOrg],
    project: [inScope("project", id), ...aroundOrg],
  };
  const { rows } = await sql<GrantRow>`${sql.join(
    scopes[kind].map((scope) => conditional(org.lockTime, scope)),
    sql` union all `,
  )}`.execute(db);
  return rows.map(toEffectiveGrant);
}

/** Writes the type as a literal, so that the planner can use partial indexes on it. */
function inScope(kind: ScopeKind, id: string): RawBuilder<unknown> {
  return sql`scope_type = ${sql.lit(scopeTypeOf(kind))} and scope_id = ${id}`;
}

function conditional(lockTime: Date, scope: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct scope_type, scope_id, predefined_role, roles.permissions, condition
    from role_bindings
    left join roles on roles.customer_id = role_bindings.org_customer_id and roles.org_id = role_bindings.org_id and roles.id = role_bindings.role_id
    where condition <> '' and (expire_time is null or expire_time > ${lockTime}) and ${scope}`;
}
