import { type Kysely, sql } from "kysely";
import type { Schema } from "../database/schema.ts";

/** Returns the permissions that the roles of an org name. */
export async function listRolePermissions(db: Kysely<Schema>, orgId: string): Promise<string[]> {
  const { rows } = await sql<{ permission: string }>`
    select distinct unnest(permissions) as permission from roles where org_id = ${orgId}`.execute(db);
  return rows.map(({ permission }) => permission);
}
