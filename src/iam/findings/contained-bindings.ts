// Role bindings that give nothing which another one does not give as well. "Contains" is an order, but for bindings that give the same, of
// which the one that was created first counts as the wider. So each binding that another one contains is contained by one that none
// contains: if all findings are deleted, nobody loses access.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { ownAreas } from "../../access/engine/tables/permission-class.ts";
import { statementTime } from "../../database/clock.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { PredefinedRole } from "../roles/predefined-roles.ts";
import { type FindingColumns, type FindingSource, isUnexpired, pathOfBinding } from "./finding-source.ts";

/** A binding and its role, by their aliases in the statement. */
interface Granted {
  readonly binding: string;
  readonly role: string;
}

const narrow: Granted = { binding: "role_bindings", role: "roles" };
const wide: Granted = { binding: "wider", role: "wider_roles" };

/** The texts in a predefined role of which each gives `needed.permission`, as `permission-class.ts` has it. */
const heldBy = sql`(array[needed.permission, '*'] || case
  when needed.permission like '%.%.%' and split_part(needed.permission, '.', 1) <> all (${[...ownAreas]}::text[])
  then array['*.*.*', '*.*.' || split_part(needed.permission, '.', 3)] else '{}'::text[] end)`;

const alikeBy = sql.join(
  ["member_id", "group_id", "predefined_role", "role_id", "scope_id", "condition", "start_time", "expire_time"].map(
    (column) => sql.ref(`granted.${column}`),
  ),
);

export const containedBindings: FindingSource = {
  kind: "ROLE_BINDING_CONTAINED",
  needs: ["iam.roleBindings.list", "iam.roles.list", "iam.groups.list", "iam.groupMembers.list"],
  table: "role_bindings",
  key: ["id"],
  isCandidate: sql`role_bindings.scope_type in ('ORG', 'PROJECT')`,
  // Each one is compared with those of all groups that its subject is in.
  atOnce: 200,
  select: ({ org, predefinedRoles }) => sql<FindingColumns>`
    select role_bindings.key, 'ROLE_BINDING_CONTAINED'::text as kind, ${pathOfBinding("role_bindings")} as resource_path,
      ${pathOfBinding("wider")} as related_path, greatest(role_bindings.create_time, wider.create_time) as since_time, role_bindings.project_id,
      null::text[] as permissions
    from candidates as role_bindings
    cross join (select ${rolesAsJson(predefinedRoles)}::jsonb as roles) as known
    join orgs on orgs.customer_id = role_bindings.org_customer_id and orgs.id = role_bindings.org_id
    left join projects on ${isInOrgOf("projects", org)} and projects.id = role_bindings.project_id
    left join members on ${isInOrgOf("members", org)} and members.id = role_bindings.member_id
    left join roles on ${isInOrgOf("roles", org)} and roles.id = role_bindings.role_id
    cross join lateral (
      with recursive subjects (group_id, end_time) as (
        (
          select role_bindings.group_id, 'infinity'::timestamptz where role_bindings.group_id is not null
          union
          select group_members.group_id, coalesce(group_members.expire_time, 'infinity') from group_members
          where ${isInOrgOf("group_members", org)} and group_members.member_id = role_bindings.member_id
            and ${isUnexpired("group_members")}
        )
        union
        select subgroups.group_id, subjects.end_time
        from subjects join subgroups on ${isInOrgOf("subgroups", org)} and subgroups.subgroup_id = subjects.group_id
      ), granted as (
        select wider.*, 'infinity'::timestamptz as end_time from role_bindings as wider
        where ${isOf("wider", org)} and wider.member_id = role_bindings.member_id
        union all
        select wider.*, subjects.end_time from subjects cross join lateral (
          -- Read by their group, and not all of the org to be joined.
          select * from role_bindings as of_group
          where ${isOf("of_group", org)} and of_group.group_id = subjects.group_id offset 0
        ) as wider
      ), alike as materialized (
        -- Of those that differ in their ids alone, the first one contains the others: roles are compared once for all of them.
        select distinct on (${alikeBy}) granted.* from granted
        where granted.id <> role_bindings.id and ${isUnexpired("granted")}
          and (granted.scope_type = 'ORG' or (granted.scope_type = 'PROJECT' and granted.project_id = role_bindings.project_id))
          and least(granted.expire_time, granted.end_time) >= coalesce(role_bindings.expire_time, 'infinity')
          and ${startsBy("granted", "role_bindings")}
          and granted.condition in ('', role_bindings.condition)
        order by ${alikeBy}, granted.id
      )
      select wider.* from alike as wider
      left join roles as wider_roles
        on wider_roles.customer_id = ${org.customer_id} and wider_roles.org_id = ${org.id} and wider_roles.id = wider.role_id
      where ${holdsAllOf(wide, narrow)} and (wider.id < role_bindings.id or not (${isSame}))
      order by wider.id limit 1
    ) as wider
    where ${isUnexpired("role_bindings")} and projects.delete_time is null and members.delete_time is null`,
};

function isOf(alias: string, { id, customer_id: customerId }: OrgKey): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(`${alias}.org_customer_id`)} = ${customerId} and ${sql.ref(`${alias}.org_id`)} = ${id}`;
}

/** Whether a binding takes effect no later than another one. */
function startsBy(early: string, late: string): RawBuilder<SqlBool> {
  const [first, second] = [sql.ref(`${early}.start_time`), sql.ref(`${late}.start_time`)];
  return sql<SqlBool>`coalesce(${first}, '-infinity') <= greatest(${second}, ${statementTime})`;
}

/** Whether a binding that contains another one is contained by it as well. */
const isSame = sql<SqlBool>`
  wider.member_id is not distinct from role_bindings.member_id and wider.group_id is not distinct from role_bindings.group_id
  and wider.scope_id = role_bindings.scope_id and wider.condition = role_bindings.condition
  and wider.expire_time is not distinct from role_bindings.expire_time
  and ${startsBy("role_bindings", "wider")} and ${holdsAllOf(narrow, wide)}`;

/** What predefined roles hold, as an object of objects: `{"viewer": {"iam.orgs.get": true}}`. */
function rolesAsJson(roles: readonly PredefinedRole[]): string {
  const held = roles.map(({ name, shown }) => [name, Object.fromEntries(shown.map((each) => [each, true]))]);
  return JSON.stringify(Object.fromEntries(held));
}

/** Whether a role holds all that another one holds. A predefined role that this server does not know, of a later version, is only like itself. */
function holdsAllOf(holder: Granted, held: Granted): RawBuilder<SqlBool> {
  const [wider, narrower] = [sql.ref(`${holder.binding}.predefined_role`), sql.ref(`${held.binding}.predefined_role`)];
  const [widerId, narrowerId] = [sql.ref(`${holder.binding}.role_id`), sql.ref(`${held.binding}.role_id`)];
  const permissions = sql`coalesce(${sql.ref(`${held.role}.permissions`)}, array(select jsonb_object_keys(known.roles -> ${narrower})))`;
  // Large sets are compared in one pass, and only those of bindings that are alike in everything else.
  return sql<SqlBool>`(case
    when ${wider} = ${narrower} or ${widerId} = ${narrowerId} then true
    when not (known.roles ? coalesce(${narrower}, 'owner')) then false
    when ${wider} is not null then known.roles ? ${wider} and not exists (
      select from unnest(${permissions}) as needed (permission) where not (known.roles -> ${wider}) ?| ${heldBy}
    )
    else not exists (select unnest(${permissions}) except select unnest(${sql.ref(`${holder.role}.permissions`)}))
  end)`;
}
