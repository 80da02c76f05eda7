import { type Kysely, sql } from "kysely";

/**
 * Adds to orgs whether members of the platform need an approved request there, and to access requests those of such members, who are of
 * another org and have no foreign key, as those who decide have none. A server of the version before lets the platform in as before.
 */
export async function addSupportAccess(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `-- squawk-ignore-file adding-field-with-default, ban-drop-not-null
    alter table orgs add column support_access_required boolean not null default false`,
    // The version before reads a request without a member as one that has ended.
    `alter table access_requests
      alter column member_id drop not null,
      add column supporter_org_id uuid,
      add column supporter_id uuid`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** With them, it is found fast whether there are such orgs, in a customer and at all, and what a member of the platform asks for. */
export const supportIndexes = [
  {
    name: "orgs_support_access",
    definition: "on orgs (customer_id, id) where support_access_required",
  },
  {
    name: "access_requests_supporter",
    definition: "on access_requests (org_id, supporter_id, create_time) where supporter_id is not null",
  },
] as const;
