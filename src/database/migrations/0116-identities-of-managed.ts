import { type Kysely, sql } from "kysely";

/**
 * Adds which resource it is that a source manages at a path. An older server neither reads nor writes it: what it notes for a resource
 * that has no row yet is by path, until the next apply by a newer one, and what it notes for another resource at a path that has a row is
 * managed by nobody until then.
 */
export async function addIdentitiesOfManaged(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table managed_resources add column identity_hash bytea").execute(db);
}
