import { type Kysely, sql } from "kysely";

/** Creates what says which resources of an org files manage. Older servers neither read nor write it. */
export async function createManagedResources(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table managed_resources (
      customer_id uuid not null,
      org_id uuid not null,
      path_hash bytea not null,
      content_hash bytea not null,
      source text not null,
      version text not null,
      constraint managed_resources_pkey primary key (org_id, path_hash, customer_id),
      constraint managed_resources_customer_id_org_id_fkey foreign key (customer_id, org_id) references orgs (customer_id, id)
    )`.execute(db);
}
