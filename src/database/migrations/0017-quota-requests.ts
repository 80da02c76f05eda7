import { type Kysely, sql } from "kysely";

/** The expressions that lists order by, besides ids. PostgreSQL uses an index only for the same expression. */
const ordered = {
  name: `name collate "C"`,
  display_name: `display_name collate "C"`,
  create_time: "create_time",
  update_time: "update_time",
};

/** Creates the requests to raise limits of quotas. */
export async function createQuotaRequests(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table quota_requests (
      org_id uuid not null references orgs,
      project_id uuid,
      id uuid not null,
      limits jsonb not null,
      state text not null check (state in ('PENDING', 'APPROVED', 'REJECTED')),
      granted_limits jsonb not null,
      decision_message text not null,
      actor_org_id uuid,
      actor_id uuid,
      decider_org_id uuid,
      decider_id uuid,
      decide_time timestamptz(3),
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
    `create unique index quota_requests_name_key on quota_requests (org_id, name)`,
    `create index quota_requests_id on quota_requests using hash (id)`,
    `create index quota_requests_project on quota_requests (org_id, project_id)`,
    ...Object.entries(ordered).map(([column, expression]) => {
      const last = column === "name" ? "" : ", id";
      return `create index quota_requests_by_${column} on quota_requests (org_id, ${expression}${last})`;
    }),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
