// Whether two addresses lead to one database, also past a pooler: a lock that a transaction of one holds, nobody gets at the other.
import { randomInt } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { Schema } from "./schema.ts";

const maxKey = 2 ** 48 - 1;

/** Returns whether unqualified names mean the same tables for both. */
export function isSameDatabase(one: Kysely<Schema>, other: Kysely<Schema>): Promise<boolean> {
  const key = randomInt(maxKey);
  return one.transaction().execute(async (db) => {
    const { rows: held } = await sql<{ schema: string | null }>`
      select current_schema() as schema from (select pg_advisory_xact_lock(${key}::bigint)) as locked`.execute(db);
    const { rows: tried } = await sql<{ schema: string | null; is_free: boolean }>`
      select current_schema() as schema, pg_try_advisory_xact_lock(${key}::bigint) as is_free`.execute(other);
    return tried[0]?.is_free === false && tried[0].schema === held[0]?.schema;
  });
}
