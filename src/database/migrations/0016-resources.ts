import { type Kysely, sql } from "kysely";

/** The expressions that lists order by, besides ids. PostgreSQL uses an index only for the same expression. */
const ordered = {
  name: `name collate "C"`,
  display_name: `display_name collate "C"`,
  create_time: "create_time",
  update_time: "update_time",
};

/** Creates infrastructure resources, and the operations on them. */
export async function createResourcesAndOperations(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table resources (
      org_id uuid not null references orgs,
      project_id uuid not null,
      id uuid not null,
      type_id uuid not null references resource_types,
      state text not null check (state in ('CREATING', 'ACTIVE', 'UPDATING', 'FAILED', 'DELETING')),
      state_reason text not null,
      parameters jsonb not null,
      quantities jsonb not null,
      given_quantities jsonb not null,
      qualities jsonb not null,
      given_qualities jsonb not null,
      outputs jsonb not null,
      operation_id uuid,
      name text not null,
      display_name text not null,
      description text not null,
      labels jsonb not null,
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, id),
      foreign key (org_id, project_id) references projects
    )`,
    `create unique index resources_name_key on resources (org_id, project_id, name)`,
    `create index resources_id on resources using hash (id)`,
    `create index resources_by_id on resources (org_id, project_id, id)`,
    `create index resources_type on resources (type_id)`,
    ...Object.entries(ordered).map(([column, expression]) => {
      const last = column === "name" ? "" : ", id";
      return `create index resources_by_${column} on resources (org_id, project_id, ${expression}${last})`;
    }),
    `create table operations (
      org_id uuid not null references orgs,
      project_id uuid not null,
      id uuid not null,
      resource_id uuid not null,
      service_id uuid not null,
      type_id uuid not null,
      verb text not null,
      prior_state text,
      state text not null check (state in ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
      quantities jsonb not null,
      given_quantities jsonb not null,
      qualities jsonb not null,
      given_qualities jsonb not null,
      outputs jsonb not null,
      progress_percent integer not null,
      progress_message text not null,
      cancel_requested boolean not null,
      error_reason text not null,
      error_message text not null,
      actor_org_id uuid,
      actor_id uuid,
      end_time timestamptz(3),
      claim_token uuid,
      attempts integer not null default 0,
      next_attempt_time timestamptz not null default now(),
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, id),
      foreign key (org_id, project_id) references projects
    )`,
    `create index operations_id on operations using hash (id)`,
    `create index operations_by_id on operations (org_id, project_id, id)`,
    `create index operations_by_create_time on operations (org_id, project_id, create_time, id)`,
    `create index operations_by_update_time on operations (org_id, project_id, update_time, id)`,
    // A resource has one operation at a time.
    `create unique index operations_open on operations (org_id, resource_id) where (end_time is null)`,
    `create index operations_exhausted on operations (next_attempt_time) where (end_time is null and attempts >= 10)`,
    `create index operations_queue on operations (service_id, next_attempt_time) where (end_time is null)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
