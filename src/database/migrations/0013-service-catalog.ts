import { type Kysely, sql } from "kysely";

/** Creates the service catalog: services, kinds of Quantities and Qualities, and types of resources. */
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
      id uuid not null,${named},
      primary key (id)
    )`,
    `create table quantity_kinds (
      org_id uuid not null references orgs,
      id uuid not null,
      unit text not null,
      step numeric not null,${named},
      primary key (id)
    )`,
    `create table quality_kinds (
      org_id uuid not null references orgs,
      id uuid not null,
      highest_grade integer not null,${named},
      primary key (id)
    )`,
    `create table resource_types (
      org_id uuid not null references orgs,
      service_id uuid not null,
      id uuid not null,
      collection text not null,
      operations jsonb not null,
      parameters_schema jsonb,${named},
      primary key (id),
      foreign key (service_id) references services
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
