import { type Kysely, sql } from "kysely";

/** The expressions that lists order by, besides ids. PostgreSQL uses an index only for the same expression. */
const ordered = {
  name: `name collate "C"`,
  display_name: `display_name collate "C"`,
  create_time: "create_time",
  update_time: "update_time",
};

/** Creates custom roles and role bindings. */
export async function createAccess(db: Kysely<unknown>): Promise<void> {
  const named = `
      name text not null,
      display_name text not null,
      description text not null,
      labels jsonb not null,
      changed_revision bigint not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now()`;
  const statements = [
    `create table roles (
      org_id uuid not null references orgs,
      id uuid not null,
      permissions text[] not null,${named},
      primary key (org_id, id)
    )`,
    `create unique index roles_name_key on roles (org_id, name)`,
    `create index roles_id on roles using hash (id)`,
    ...listIndexes("roles", "org_id"),
    ...triggers("Role", "roles"),

    // A binding is in the org of its subject, so that everything that affects the access of an org's members is in that org,
    // under its lock and in its change log. `scope_id` is the org, project or customer on which the role is granted; null for
    // the platform.
    `create table role_bindings (
      org_id uuid not null references orgs,
      id uuid not null,
      scope_type text not null check (scope_type in ('PLATFORM', 'CUSTOMER', 'ORG', 'PROJECT')),
      customer_id uuid references customers on delete cascade,
      project_id uuid,
      scope_id uuid generated always as
        (case scope_type when 'ORG' then org_id else coalesce(project_id, customer_id) end) stored,
      member_id uuid,
      group_id uuid,
      predefined_role text,
      role_id uuid,
      start_time timestamptz(3),
      expire_time timestamptz(3),
      condition text not null,${named},
      primary key (org_id, id),
      foreign key (org_id, project_id) references projects on delete cascade,
      foreign key (org_id, member_id) references members on delete cascade,
      foreign key (org_id, group_id) references groups on delete cascade,
      foreign key (org_id, role_id) references roles on delete cascade,
      check ((customer_id is not null) = (scope_type = 'CUSTOMER')),
      check ((project_id is not null) = (scope_type = 'PROJECT')),
      check (num_nonnulls(member_id, group_id) = 1),
      check (num_nonnulls(predefined_role, role_id) = 1),
      check (role_id is null or scope_type in ('ORG', 'PROJECT')),
      check (start_time < expire_time)
    )`,
    // Names are unique in a scope. Those of customers and the platform are unique across orgs; the others can be partitioned by
    // org.
    `create unique index role_bindings_name_key on role_bindings (org_id, scope_id, name)
      where scope_type in ('ORG', 'PROJECT')`,
    `create unique index role_bindings_shared_name_key on role_bindings (scope_id, name) nulls not distinct
      where scope_type in ('CUSTOMER', 'PLATFORM')`,
    // A hash index, so that the planner does not use it for lists.
    `create index role_bindings_id on role_bindings using hash (id)`,
    `create index role_bindings_owner on role_bindings (org_id) where predefined_role = 'owner'`,
    `create index role_bindings_scope on role_bindings (scope_type, scope_id, id)`,
    `create index role_bindings_project on role_bindings (org_id, project_id, id) where project_id is not null`,
    `create index role_bindings_customer on role_bindings (customer_id, id) where customer_id is not null`,
    `create index role_bindings_member on role_bindings (org_id, member_id) where member_id is not null`,
    `create index role_bindings_group on role_bindings (org_id, group_id) where group_id is not null`,
    `create index role_bindings_role on role_bindings (org_id, role_id) where role_id is not null`,
    `create index role_bindings_expire on role_bindings (expire_time) where expire_time is not null`,
    ...listIndexes("role_bindings", "scope_id"),
    ...triggers("RoleBinding", "role_bindings"),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/**
 * Creates the indexes for ordered lists. A name is unique, so its index does not contain the id: with it, the index would be
 * chosen for lookups by id.
 *
 * @param parent the column with the parent of the list.
 */
function listIndexes(table: string, parent: string): string[] {
  return Object.entries(ordered).map(([column, expression]) => {
    const key = column === "name" ? expression : `${expression}, id`;
    return `create index ${table}_by_${column} on ${table} (${parent}, ${key})`;
  });
}

/** The triggers that maintain the counts and labels of a resource in an org. */
function triggers(type: string, table: string): string[] {
  const count = (event: string, transition: string) =>
    `create trigger ${table}_count_${event} after ${event} on ${table} referencing ${transition}
      for each statement execute function count_resources('${type}', 'org_id', 'true')`;
  const labels = (event: string, condition: string) =>
    `create trigger ${table}_labels_${event} after ${event} on ${table}
      for each row when (${condition}) execute function keep_labels('${type}', 'true')`;
  return [
    count("insert", "new table as new_rows"),
    count("delete", "old table as old_rows"),
    labels("insert", "new.labels <> '{}'"),
    labels("update", "new.labels <> old.labels"),
    labels("delete", "old.labels <> '{}'"),
  ];
}
