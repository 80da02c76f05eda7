import { type Kysely, sql } from "kysely";

/**
 * Creates the requests for access. What one refers to and that may be removed while it stays as history has no foreign key: the role, the
 * role binding, and those who decided.
 */
export async function createAccessRequests(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table access_requests (
      customer_id uuid not null,
      org_id uuid not null,
      id uuid not null,
      project_id uuid,
      member_id uuid not null,
      predefined_role text,
      role_id uuid,
      reason text not null,
      expire_time timestamptz(3) not null,
      lapse_time timestamptz(3) not null,
      state text not null check (state in ('PENDING', 'APPROVED', 'DECLINED', 'CANCELLED', 'ENDED')),
      decider_org_id uuid,
      decider_id uuid,
      decision_message text not null,
      decide_time timestamptz(3),
      binding_id uuid,
      ender_org_id uuid,
      ender_id uuid,
      end_time timestamptz(3),
      changed_revision uuid not null,
      create_time timestamptz(3) not null default now(),
      update_time timestamptz(3) not null default now(),
      primary key (org_id, id, customer_id),
      foreign key (customer_id, org_id) references orgs (customer_id, id),
      foreign key (customer_id, org_id, project_id) references projects (customer_id, org_id, id),
      foreign key (customer_id, org_id, member_id) references members (customer_id, org_id, id)
    )`,
    `create index access_requests_id on access_requests using hash (id)`,
    `create index access_requests_by_create_time on access_requests (org_id, create_time, id)`,
    `create index access_requests_by_update_time on access_requests (org_id, update_time, id)`,
    `create index access_requests_project on access_requests (org_id, project_id)`,
    `create index access_requests_member on access_requests (org_id, member_id, create_time)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
