import { type Kysely, sql } from "kysely";

/** Few bindings have a condition; what changes what those look at finds them by their scope. */
export async function indexConditionalBindings(db: Kysely<unknown>): Promise<void> {
  await sql`create index role_bindings_conditional on role_bindings (scope_type, scope_id) where condition <> ''`.execute(
    db,
  );
}
