import { type Kysely, sql } from "kysely";

/** Indexes the few bindings with a condition by their scope, for changes that affect what conditions read. */
export async function indexConditionalBindings(db: Kysely<unknown>): Promise<void> {
  await sql`create index role_bindings_conditional on role_bindings (scope_type, scope_id) where condition <> ''`.execute(
    db,
  );
}
