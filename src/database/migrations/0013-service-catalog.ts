import { type Kysely, sql } from "kysely";

/**
 * Creates the service catalog: services, kinds of Quantities and Qualities, and types of resources. All of it is in the org
 * `system`. The keys are the ids alone, so that rows of other orgs can refer to them.
 */
export async function createServiceCatalog(db: Kysely<unknown>): Promise<void> {
  const named = `
      name text not null,
      display_name text not null,
      description text not null,
      labels jsonb not null,
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now()`;
  const statements = [
    `create table services (
      org_id uuid not null references orgs,
      id uuid primary key,${named}
    )`,
    `create table quantity_kinds (
      org_id uuid not null references orgs,
      id uuid primary key,
      unit text not null,
      step numeric not null,${named}
    )`,
    `create table quality_kinds (
      org_id uuid not null references orgs,
      id uuid primary key,
      highest_grade integer not null,${named}
    )`,
    `create table resource_types (
      org_id uuid not null references orgs,
      service_id uuid not null references services,
      id uuid primary key,
      collection text not null,
      operations jsonb not null,
      parameters_schema jsonb,${named}
    )`,
    ...["services", "quantity_kinds", "quality_kinds"].map(
      (table) => `create unique index ${table}_name_key on ${table} (name)`,
    ),
    `create unique index resource_types_name_key on resource_types (service_id, name)`,
    `create unique index resource_types_collection_key on resource_types (service_id, collection)`,
    `create index resource_types_by_id on resource_types (service_id, id)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
