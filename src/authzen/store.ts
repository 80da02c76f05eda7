import { type Kysely, sql } from "kysely";
import type { Schema } from "../database/schema.ts";

/** Returns the permissions that the roles of an org name, and the known ones, in the order of their characters. */
export async function listPermissions(
  db: Kysely<Schema>,
  orgId: string,
  knownPermissions: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ permission: string }>`
    select permission from (
      select unnest(permissions) from roles where org_id = ${orgId} union select unnest(${knownPermissions}::text[])
    ) as named (permission) order by permission collate "C"`.execute(db);
  return rows.map(({ permission }) => permission);
}
