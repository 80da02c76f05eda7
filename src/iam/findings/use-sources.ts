// What no permitted call has needed for some time. Use is recorded by the day, so what was used on the day on which that time begins was used.
// What was created or changed in that time is not found: it may give something else than before. A membership, a nesting or a permission
// of a role gives nothing by itself, and is found only if a role binding has made something of it for all that time.
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import {
  type FindingColumns,
  type FindingSource,
  type FindingsQuestion,
  isUnexpired,
  pathOfBinding,
  pathTexts,
  unusedSince,
} from "./finding-source.ts";

const isOnOrgOrProject = sql<SqlBool>`role_bindings.scope_type in ('ORG', 'PROJECT')`;

/** Joins the last day of use. */
export function joinUses({ org }: FindingsQuestion, usedId: string, part: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`left join access_uses on ${isInOrgOf("access_uses", org)} and access_uses.used_id = ${sql.ref(usedId)}
    and access_uses.part = ${part}`;
}

export const isUnused = (question: FindingsQuestion): RawBuilder<SqlBool> =>
  sql<SqlBool>`coalesce(access_uses.last_day < date_trunc('day', ${unusedSince(question)}, 'UTC'), true)`;

/** The begin of the last day of use; if none is known, when it was created or changed, or recording began. */
const sinceTime = ({ recordedSince }: FindingsQuestion, changed: RawBuilder<unknown>): RawBuilder<Date> =>
  sql<Date>`coalesce(access_uses.last_day, greatest(${changed}, ${recordedSince}::timestamptz))`;

/** When a binding began to give what it gives. */
const bindingBegins = sql`greatest(role_bindings.update_time, role_bindings.start_time)`;

/** Whether a binding has given something since the time in which it would have been used, which a condition leads to by an index. */
function hasGiven(question: FindingsQuestion, condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  const { org } = question;
  return sql<SqlBool>`exists (
    select from role_bindings
    left join projects on ${isInOrgOf("projects", org)} and projects.id = role_bindings.project_id
    where ${isInOrgOf("role_bindings", org)} and ${condition} and ${isOnOrgOrProject} and ${isUnexpired("role_bindings")}
      and ${bindingBegins} < ${unusedSince(question)} and projects.delete_time is null
  )`;
}

/** Whether a group, or one that it has been in for all that time, is bound. */
function groupHasGiven(question: FindingsQuestion, groupId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    with recursive above (id) as (
      select ${sql.ref(groupId)}
      union
      select subgroups.group_id from above
      join subgroups on ${isInOrgOf("subgroups", question.org)} and subgroups.subgroup_id = above.id
        and subgroups.update_time < ${unusedSince(question)}
    )
    select from above where ${hasGiven(question, sql<SqlBool>`role_bindings.group_id = above.id`)}
  )`;
}

export const unusedBindings: FindingSource = {
  kind: "ROLE_BINDING_UNUSED",
  needs: ["iam.roleBindings.list"],
  table: "role_bindings",
  key: ["id"],
  isCandidate: isOnOrgOrProject,
  isOfUse: true,
  atOnce: 2_000,
  select: (question) => sql<FindingColumns>`
    select role_bindings.key, 'ROLE_BINDING_UNUSED'::text as kind, ${pathOfBinding("role_bindings")} as resource_path,
      ''::text as related_path, ${sinceTime(question, bindingBegins)} as since_time, role_bindings.project_id,
      null::text[] as permissions
    from candidates as role_bindings
    join orgs on orgs.customer_id = role_bindings.org_customer_id and orgs.id = role_bindings.org_id
    left join projects on ${isInOrgOf("projects", question.org)} and projects.id = role_bindings.project_id
    left join members on ${isInOrgOf("members", question.org)} and members.id = role_bindings.member_id
    ${joinUses(question, "role_bindings.id", sql`''`)}
    where ${bindingBegins} < ${unusedSince(question)} and ${isUnexpired("role_bindings")} and ${isUnused(question)}
      and projects.delete_time is null and members.delete_time is null`,
};

export const unusedMemberships: FindingSource = {
  kind: "GROUP_MEMBER_UNUSED",
  needs: ["iam.groupMembers.list", "iam.groups.list", "iam.subgroups.list", "iam.roleBindings.list"],
  table: "group_members",
  key: ["group_id", "member_id"],
  isOfUse: true,
  // Each one takes a search in the groups above its own.
  atOnce: 500,
  select: (question) => sql<FindingColumns>`
    select group_members.key, 'GROUP_MEMBER_UNUSED'::text as kind, ${pathTexts.groupMember} as resource_path,
      ''::text as related_path, ${sinceTime(question, sql`group_members.update_time`)} as since_time, null::uuid as project_id,
      null::text[] as permissions
    from candidates as group_members
    ${joinOrgAndGroup(question.org, "group_members")}
    join members on ${isInOrgOf("members", question.org)} and members.id = group_members.member_id and members.delete_time is null
    ${joinUses(question, "group_members.member_id", sql`group_members.group_id::text`)}
    where group_members.update_time < ${unusedSince(question)} and ${isUnexpired("group_members")} and ${isUnused(question)}
      and ${groupHasGiven(question, "group_members.group_id")}`,
};

export const unusedSubgroups: FindingSource = {
  kind: "SUBGROUP_UNUSED",
  needs: ["iam.subgroups.list", "iam.groups.list", "iam.roleBindings.list"],
  table: "subgroups",
  key: ["group_id", "subgroup_id"],
  isOfUse: true,
  atOnce: 500,
  select: (question) => sql<FindingColumns>`
    select subgroups.key, 'SUBGROUP_UNUSED'::text as kind, ${pathTexts.subgroup} as resource_path, ''::text as related_path,
      ${sinceTime(question, sql`subgroups.update_time`)} as since_time, null::uuid as project_id, null::text[] as permissions
    from candidates as subgroups
    ${joinOrgAndGroup(question.org, "subgroups")}
    join groups as inner_groups on inner_groups.customer_id = subgroups.customer_id and inner_groups.org_id = subgroups.org_id
      and inner_groups.id = subgroups.subgroup_id
    ${joinUses(question, "subgroups.subgroup_id", sql`subgroups.group_id::text`)}
    where subgroups.update_time < ${unusedSince(question)} and ${isUnused(question)}
      and ${groupHasGiven(question, "subgroups.group_id")}`,
};

function joinOrgAndGroup(org: OrgKey, table: "group_members" | "subgroups"): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql`
    join orgs on orgs.customer_id = ${column("customer_id")} and orgs.id = ${column("org_id")}
    join groups on ${isInOrgOf("groups", org)} and groups.id = ${column("group_id")}`;
}

export const unusedPermissions: FindingSource = {
  kind: "ROLE_PERMISSION_UNUSED",
  needs: ["iam.roles.list", "iam.roleBindings.list"],
  table: "roles",
  key: ["id"],
  isOfUse: true,
  // Each one may have a thousand permissions.
  atOnce: 100,
  select: (question) => sql<FindingColumns>`
    select roles.key, 'ROLE_PERMISSION_UNUSED'::text as kind, ${pathTexts.role} as resource_path, ''::text as related_path,
      unused.since_time, null::uuid as project_id, unused.permissions
    from candidates as roles
    join orgs on orgs.customer_id = roles.customer_id and orgs.id = roles.org_id
    cross join lateral (
      select array_agg(held.permission order by held.permission collate "C") as permissions,
        max(${sinceTime(question, sql`roles.update_time`)}) as since_time
      from (select distinct permission from unnest(roles.permissions) as listed (permission)) as held
      ${joinUses(question, "roles.id", sql`held.permission`)}
      where ${isUnused(question)}
    ) as unused
    where roles.update_time < ${unusedSince(question)} and unused.permissions is not null
      and ${hasGiven(question, sql<SqlBool>`role_bindings.role_id = roles.id`)}`,
};

export const unusedClients: FindingSource = {
  kind: "CLIENT_UNUSED",
  needs: ["iam.clients.list"],
  table: "clients",
  key: ["id"],
  isOfUse: true,
  atOnce: 2_000,
  select: (question) => sql<FindingColumns>`
    select clients.key, 'CLIENT_UNUSED'::text as kind, ${pathTexts.client} as resource_path, ''::text as related_path,
      ${sinceTime(question, sql`clients.update_time`)} as since_time, null::uuid as project_id, null::text[] as permissions
    from candidates as clients
    join orgs on orgs.customer_id = clients.customer_id and orgs.id = clients.org_id
    ${joinUses(question, "clients.id", sql`''`)}
    where clients.update_time < ${unusedSince(question)} and ${isUnused(question)}`,
};
