import { type Transaction, sql } from "kysely";
import type { Schema } from "../database/schema.ts";
import type { LevelRow } from "./levels.ts";

/** Removes the rows of scopes that have neither a limit nor usage. */
export async function removeEmpty(
  db: Transaction<Schema>,
  scopes: readonly Pick<LevelRow, "orgId" | "id">[],
): Promise<void> {
  const orgIds = scopes.map(({ orgId }) => orgId);
  const ids = scopes.map(({ id }) => id);
  await sql`
    delete from quotas using unnest(${orgIds}::uuid[], ${ids}::uuid[]) as scope (org_id, scope_id)
    where quotas.org_id = scope.org_id and quotas.scope_id = scope.scope_id
      and maximum is null and used = 0 and reserved = 0`.execute(db);
}
