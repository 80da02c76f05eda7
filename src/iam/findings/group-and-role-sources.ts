// Groups that have access and no members, and roles that nothing grants.
import { sql } from "kysely";
import { isInOrgOf } from "../../database/org-key.ts";
import { type FindingColumns, type FindingSource, isUnexpired, pathTexts } from "./finding-source.ts";

const inOrg = { key: ["id"], atOnce: 2_000 } as const;

export const groupsWithoutMembers: FindingSource = {
  ...inOrg,
  kind: "GROUP_WITHOUT_MEMBERS",
  needs: ["iam.groups.list", "iam.groupMembers.list", "iam.roleBindings.list"],
  table: "groups",
  select: ({ org }) => sql<FindingColumns>`
    select groups.key, 'GROUP_WITHOUT_MEMBERS'::text as kind, ${pathTexts.group} as resource_path, ''::text as related_path,
      null::timestamptz as since_time, null::uuid as project_id, null::text[] as permissions
    from candidates as groups
    join orgs on orgs.customer_id = groups.customer_id and orgs.id = groups.org_id
    where exists (
        select from role_bindings
        where ${isInOrgOf("role_bindings", org)} and role_bindings.group_id = groups.id and ${isUnexpired("role_bindings")}
          and role_bindings.scope_type in ('ORG', 'PROJECT')
      )
      and not exists (
        with recursive below (id) as (
          select groups.id
          union
          select subgroups.subgroup_id from below join subgroups on ${isInOrgOf("subgroups", org)} and subgroups.group_id = below.id
        )
        select from below
        join group_members on ${isInOrgOf("group_members", org)} and group_members.group_id = below.id and ${isUnexpired("group_members")}
        join members on ${isInOrgOf("members", org)} and members.id = group_members.member_id and members.delete_time is null
      )`,
};

export const unboundRoles: FindingSource = {
  ...inOrg,
  kind: "ROLE_UNBOUND",
  needs: ["iam.roles.list", "iam.roleBindings.list"],
  table: "roles",
  select: ({ org }) => sql<FindingColumns>`
    select roles.key, 'ROLE_UNBOUND'::text as kind, ${pathTexts.role} as resource_path, ''::text as related_path,
      null::timestamptz as since_time, null::uuid as project_id, null::text[] as permissions
    from candidates as roles
    join orgs on orgs.customer_id = roles.customer_id and orgs.id = roles.org_id
    where not exists (
      select from role_bindings
      where ${isInOrgOf("role_bindings", org)} and role_bindings.role_id = roles.id and ${isUnexpired("role_bindings")}
    )`,
};
