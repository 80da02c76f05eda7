import { sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { isInThePast } from "../../database/partitions.ts";

/** A role binding in the past of the org in whose log it is. */
interface PastBinding {
  readonly orgId: string;
  readonly revision: string;
  readonly id: string;
}

/**
 * Returns the path that a role binding had at a revision; undefined if the log does not have it, because it has not changed for as long as
 * the log reaches back.
 */
export async function readPastPath(
  { reads }: Pick<Database, "reads">,
  { orgId, revision, id }: PastBinding,
): Promise<string | undefined> {
  const { rows } = await sql<{ resource_path: string }>`
    select resource_path from changes
    where org_id = ${orgId} and resource_id = ${id} and resource_type = 'RoleBinding' and revision <= ${revision}
      and ${sql.raw(isInThePast)}
    order by time desc, revision desc, position desc limit 1`.execute(reads);
  return rows[0]?.resource_path;
}
