// Statements about quotas, besides those of the ledger.
import { type Transaction, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import type { LevelRow } from "./levels.ts";
import type { NewLimit } from "./may-raise.ts";

type Db = Transaction<Schema>;

/** Sets limits of a level, under the lock that `updateQuota` takes. */
export async function writeLimits(db: Db, { orgId, id }: LevelRow, changed: readonly NewLimit[]): Promise<void> {
  const kinds = changed.map(({ kind }) => kind);
  const maxima = changed.map(({ after }) => after ?? null);
  await sql`
    insert into quotas (org_id, scope_id, kind, maximum, used, reserved)
    select ${orgId}::uuid, ${id}::uuid, kind, maximum, 0, 0 from unnest(${kinds}::text[], ${maxima}::numeric[]) as given (kind, maximum)
    on conflict (org_id, scope_id, kind) do update set maximum = excluded.maximum`.execute(db);
  await removeEmpty(db, [{ orgId, id }]);
}

/** Returns how many quotas have a limit or usage of a kind. */
export async function countQuotasOfKind(db: Db, kind: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from quotas where kind = ${kind}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Removes the rows of scopes that have neither a limit nor usage. */
export async function removeEmpty(db: Db, scopes: readonly Pick<LevelRow, "orgId" | "id">[]): Promise<void> {
  const orgIds = scopes.map(({ orgId }) => orgId);
  const ids = scopes.map(({ id }) => id);
  await sql`
    delete from quotas using unnest(${orgIds}::uuid[], ${ids}::uuid[]) as scope (org_id, scope_id)
    where quotas.org_id = scope.org_id and quotas.scope_id = scope.scope_id
      and maximum is null and used = 0 and reserved = 0`.execute(db);
}
