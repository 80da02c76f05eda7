import { type Kysely, sql } from "kysely";

/** Creates the queue of orgs and projects whose resources have to follow their state, and lets resources be suspended. */
export async function createSweeps(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table sweeps (
      org_id uuid not null,
      scope_id uuid not null,
      after_id uuid,
      is_pending boolean not null default false,
      rounds integer not null default 0,
      next_time timestamptz not null default now(),
      primary key (org_id, scope_id)
    )`,
    `create index sweeps_queue on sweeps (next_time)`,
    `alter table resources drop constraint resources_state_check`,
    `alter table resources add constraint resources_state_check
      check (state in ('CREATING', 'ACTIVE', 'UPDATING', 'SUSPENDED', 'FAILED', 'DELETING'))`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
