import { type Kysely, sql } from "kysely";

/** The counted resources: their table, the column with their parent, and whether deleted rows stay in the table. */
const counted = [
  { type: "Project", table: "projects", parent: "org_id", keepsDeleted: true },
  { type: "Member", table: "members", parent: "org_id", keepsDeleted: true },
  { type: "ApiKey", table: "api_keys", parent: "member_id", keepsDeleted: false },
  { type: "Group", table: "groups", parent: "org_id", keepsDeleted: false },
  { type: "GroupMember", table: "group_members", parent: "group_id", keepsDeleted: false },
  { type: "Subgroup", table: "subgroups", parent: "group_id", keepsDeleted: false },
];

/**
 * Adds invitations, the columns and indexes for undelete and purge, and the number of resources below each parent.
 *
 * Triggers maintain the counts, so that they also cover cascades and running servers of the previous version. Writers hold the
 * org's lock, so the counts are not contended.
 */
export async function createStatesAndCounts(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Locks the tables first and in a fixed order, because running servers lock rows of several of them.
    `lock table customers, orgs, projects, members, api_keys, groups, group_members, subgroups in access exclusive mode`,
    `alter table members
      add column invitation_expire_time timestamptz(3),
      add constraint members_invitation_check check ((state = 'INVITED') = (invitation_expire_time is not null))`,
    `create index members_invitation on members (invitation_expire_time)
      where invitation_expire_time is not null and delete_time is null`,

    `alter table orgs add column deleted_with_customer boolean not null default false`,
    // Orgs that were deleted in the same transaction as their customer have its delete time.
    `update orgs set deleted_with_customer = true from customers
      where customers.id = orgs.customer_id and orgs.delete_time = customers.delete_time`,

    ...["customers", "orgs", "projects", "members"].map(
      (table) => `create index ${table}_purge on ${table} (purge_time) where purge_time is not null`,
    ),
    `create index group_members_expire on group_members (expire_time) where expire_time is not null`,

    `create table resource_counts (
      org_id uuid not null references orgs on delete cascade,
      parent_id uuid not null,
      resource_type text not null,
      count bigint not null check (count >= 0),
      primary key (org_id, parent_id, resource_type)
    )`,
    countResources,
    ...counted.flatMap(({ type, table, parent, keepsDeleted }) => {
      const live = keepsDeleted ? "delete_time is null" : "true";
      const trigger = (event: string, transition: string) =>
        `create trigger ${table}_count_${event} after ${event} on ${table} referencing ${transition}
          for each statement execute function count_resources('${type}', '${parent}', '${live}')`;
      return [
        `insert into resource_counts (org_id, parent_id, resource_type, count)
          select org_id, ${parent}, '${type}', count(*) from ${table} where ${live} group by org_id, ${parent}`,
        trigger("insert", "new table as new_rows"),
        trigger("delete", "old table as old_rows"),
        ...(keepsDeleted ? [trigger("update", "old table as old_rows new table as new_rows")] : []),
      ];
    }),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** The trigger's arguments are the resource's type, the column with its parent, and the condition that a row counts. */
const countResources = `
  create function count_resources() returns trigger language plpgsql as $$
  declare
    added text := format('select org_id, %I as parent_id, 1 as difference from new_rows where %s', tg_argv[1], tg_argv[2]);
    removed text := format('select org_id, %I as parent_id, -1 as difference from old_rows where %s', tg_argv[1], tg_argv[2]);
    differences text := case tg_op
      when 'INSERT' then added
      when 'DELETE' then removed
      else added || ' union all ' || removed
    end;
  begin
    execute format('
      merge into resource_counts as counts
      using (
        select org_id, parent_id, sum(difference) as difference from (%s) as each
        group by org_id, parent_id having sum(difference) <> 0
      ) as changed
      on counts.org_id = changed.org_id and counts.parent_id = changed.parent_id and counts.resource_type = %L
      when matched and counts.count + changed.difference = 0 then delete
      when matched then update set count = counts.count + changed.difference
      when not matched then insert values (changed.org_id, changed.parent_id, %2$L, changed.difference)',
      differences, tg_argv[0]);
    return null;
  end $$`;
