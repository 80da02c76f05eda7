import { type Kysely, sql } from "kysely";

/** Creates the quotas of customers, orgs and projects, and what each resource holds of them. */
export async function createQuotas(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table quotas (
      org_id uuid not null,
      scope_id uuid not null,
      kind text not null references quantity_kinds (name),
      maximum numeric check (maximum >= 0),
      used numeric not null check (used >= 0),
      reserved numeric not null check (reserved >= 0),
      primary key (org_id, scope_id, kind)
    )`,
    `create index quotas_kind on quotas (kind)`,
    `create table allocations (
      org_id uuid not null,
      project_id uuid not null,
      resource_id uuid not null,
      kind text not null,
      used numeric not null check (used >= 0),
      reserved numeric not null check (reserved >= 0),
      primary key (org_id, resource_id, kind),
      foreign key (org_id, project_id) references projects
    )`,
    `create index allocations_project on allocations (org_id, project_id)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
