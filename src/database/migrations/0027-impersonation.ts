import { type Kysely, sql } from "kysely";

/** Adds the member that impersonated the author of a change. */
export async function addImpersonation(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table changes add column impersonator_id uuid").execute(db);
}
