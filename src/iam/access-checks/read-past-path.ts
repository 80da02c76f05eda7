// The paths that role bindings had, from the log: an entry has the path from before its change.
import { sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { isInThePast } from "../../database/partitions.ts";

/** A role binding in the past of the org in whose log it is. */
interface PastBinding {
  readonly orgId: string;
  readonly revision: string;
  readonly id: string;
}

/** Returns the path that a role binding had at a revision; undefined if it has not changed since. */
export async function readLaterPath(
  { reads }: Pick<Database, "reads">,
  { orgId, revision, id }: PastBinding,
): Promise<string | undefined> {
  const { rows } = await sql<{ resource_path: string }>`
    select resource_path from changes
    where org_id = ${orgId} and resource_id = ${id} and resource_type = 'RoleBinding' and revision > ${revision}
      and ${sql.raw(isInThePast)}
    order by time, revision, position limit 1`.execute(reads);
  return rows[0]?.resource_path;
}

/** Returns the path of a role binding after its last change up to a revision: it went with something else. Empty if the log does not have it. */
export async function readLastPath(
  { reads }: Pick<Database, "reads">,
  { orgId, revision, id }: PastBinding,
): Promise<string> {
  const { rows } = await sql<{ resource_path: string; name: string | null }>`
    select resource_path, after ->> 'name' as name from changes
    where org_id = ${orgId} and resource_id = ${id} and resource_type = 'RoleBinding' and revision <= ${revision}
      and ${sql.raw(isInThePast)}
    order by time desc, revision desc, position desc limit 1`.execute(reads);
  const [found] = rows;
  if (found === undefined) return "";
  const { resource_path: path, name } = found;
  return name === null ? path : path.replace(/[^/]+$/, () => name);
}
