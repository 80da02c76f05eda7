import { type Kysely, sql } from "kysely";

/** Lets resources refer to others: to those that they use, and to those that a running operation wants. */
export async function addResourceReferences(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table resources add column reference_ids jsonb not null default '{}'`,
    `alter table resources alter column reference_ids drop default`,
    `alter table operations add column reference_ids jsonb not null default '{}'`,
    `alter table operations alter column reference_ids drop default`,
    `create table resource_references (
      org_id uuid not null,
      resource_id uuid not null,
      target_id uuid not null,
      primary key (org_id, resource_id, target_id),
      foreign key (org_id, resource_id) references resources,
      foreign key (org_id, target_id) references resources
    )`,
    `create index resource_references_target on resource_references (org_id, target_id)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
