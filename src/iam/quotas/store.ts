import { type Transaction, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import type { LevelRow } from "../../quotas/levels.ts";
import { removeEmpty } from "../../quotas/remove-empty.ts";
import type { NewLimit } from "./may-raise.ts";

/** Sets limits of a level, under the lock that `updateQuota` takes. */
export async function writeLimits(
  db: Transaction<Schema>,
  { customerId, orgId, id }: LevelRow,
  changed: readonly NewLimit[],
): Promise<void> {
  const kinds = changed.map(({ kind }) => kind);
  const maxima = changed.map(({ after }) => after ?? null);
  await sql`
    insert into quotas (customer_id, org_id, scope_id, kind, maximum, used, reserved)
    select ${customerId}::uuid, ${orgId}::uuid, ${id}::uuid, kind, maximum, 0, 0
    from unnest(${kinds}::text[], ${maxima}::numeric[]) as given (kind, maximum)
    on conflict (customer_id, scope_id, kind) do update set maximum = excluded.maximum`.execute(db);
  await removeEmpty(db, customerId, [id]);
}
