import { type Kysely, sql } from "kysely";

/**
 * Adds to orgs since when they require that members of the platform are approved, the orgs that require it, by their customers, in which it holds,
 * and to access requests those of such members, who are of another org and have no foreign key, as those who decide have none. A server of the
 * version before lets the platform in as before.
 */
export async function addSupportAccess(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table orgs
      add column support_access_required_time timestamptz,
      add column support_access_change_time timestamptz`,
    // Without foreign keys: a row stays after the purge of its org, in whose customer it still counts, and of the customer, as entries of its logs do.
    `create table guarding_orgs (
      customer_id uuid not null,
      org_id uuid not null,
      since timestamptz not null,
      primary key (customer_id, org_id)
    )`,
    // The version before shows such a request without its member, and refuses to approve it.
    `alter table access_requests
      -- squawk-ignore ban-drop-not-null
      alter column member_id drop not null,
      add column supporter_org_id uuid,
      add column supporter_id uuid,
      add column supporter_name text`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** With it, it is found fast what a member of the platform asks for. */
export const supportIndexes = [
  {
    name: "access_requests_supporter",
    definition: "on access_requests (org_id, supporter_id, create_time) where supporter_id is not null",
  },
] as const;
