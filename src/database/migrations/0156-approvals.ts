import { type Kysely, sql } from "kysely";
import type { Index } from "../migration/migration.ts";

/**
 * Adds to orgs how many approvals a request for access needs, to requests who has approved first, and whether one has begun without a decision, and to
 * warnings whom they are for, where that is fixed before they are sent. A server of the version before lets one approval do.
 */
export async function addApprovals(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `-- squawk-ignore prefer-bigint-over-smallint
    alter table orgs add column access_request_approvals smallint`,
    `-- squawk-ignore adding-field-with-default
    alter table access_requests
      add column approver_org_id uuid,
      add column approver_id uuid,
      add column approval_message text,
      add column approve_time timestamptz(3),
      add column break_glass boolean not null default false`,
    `alter table contact_warnings
      add column email text,
      add column contact_name text,
      add column subject_name text,
      add column end_time timestamptz(3)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const indexesOfApprovals: readonly Index[] = [
  { name: "access_requests_break_glass", definition: "on access_requests (org_id, create_time) where break_glass" },
  { name: "contact_warnings_fixed", definition: "on contact_warnings (org_id) where email is not null" },
];
