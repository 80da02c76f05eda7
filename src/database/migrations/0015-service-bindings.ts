import { type Kysely, sql } from "kysely";

/** The indexes that contain `scope_id`, which is created again with another expression. */
const indexes = [
  `create index role_bindings_scope on role_bindings (scope_type, scope_id, id)`,
  `create index role_bindings_conditional on role_bindings (scope_type, scope_id) where condition <> ''`,
  `create index role_bindings_by_name on role_bindings (scope_id, name collate "C")`,
  `create index role_bindings_by_display_name on role_bindings (scope_id, display_name collate "C", id)`,
  `create index role_bindings_by_create_time on role_bindings (scope_id, create_time, id)`,
  `create index role_bindings_by_update_time on role_bindings (scope_id, update_time, id)`,
  `create unique index role_bindings_name_key on role_bindings (org_id, scope_id, name)
    where scope_type in ('ORG', 'PROJECT')`,
  `create unique index role_bindings_shared_name_key on role_bindings (scope_id, name) nulls not distinct
    where scope_type in ('CUSTOMER', 'SERVICE', 'PLATFORM')`,
];

/** Adds role bindings on services. Like those on the platform, they are in the org `system`, whose members they are for. */
export async function addServiceBindings(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table role_bindings
      add service_id uuid references services,
      drop constraint role_bindings_scope_type_check,
      add constraint role_bindings_scope_type_check
        check (scope_type in ('PLATFORM', 'CUSTOMER', 'SERVICE', 'ORG', 'PROJECT')),
      add constraint role_bindings_service_check check ((service_id is not null) = (scope_type = 'SERVICE'))`,
    // The expression of a generated column can be changed only since PostgreSQL 17. Its indexes are dropped with it.
    `alter table role_bindings drop scope_id`,
    `alter table role_bindings add scope_id uuid generated always as
      (case scope_type when 'ORG' then org_id else coalesce(project_id, customer_id, service_id) end) stored`,
    ...indexes,
    `create index role_bindings_service on role_bindings (service_id) where service_id is not null`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
