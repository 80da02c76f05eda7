import { sql } from "kysely";
import type { EndedRows } from "../../access/engine/decisions/find-inactive.ts";
import type { MembershipRow } from "../../access/engine/loading/rows.ts";
import { type BindingColumns, toBindingRow } from "../../access/snapshots/to-binding-row.ts";
import type { Database } from "../../database/database.ts";
import { isInThePast } from "../../database/partitions.ts";

/** What has ended, and the paths that role bindings had, by their ids. */
export interface EndedGrants extends EndedRows {
  readonly paths: ReadonlyMap<string, string>;
}

interface EndedRow {
  readonly type: string;
  readonly id: string;
  readonly path: string;
  readonly before: object;
}

interface EndedQuery {
  readonly orgId: string;
  /** Empty for a group. */
  readonly memberId: string;
  readonly now: number;
  /** The last revision of the log to read; undefined for all. */
  readonly until: string | undefined;
}

/** How long after their ends grants are found, in milliseconds. */
const keptMs = 30 * 86_400_000;

/** How many of the latest ends in an org are looked through, also those of sessions and keys, and how many may be of the subject. */
const mostEntries = 10_000;
const mostEnded = 1_000;

/**
 * Reads the role bindings and memberships that have ended from the change log: they are removed when they end. Those of groups are of all
 * groups.
 */
export async function readEndedGrants(
  { reads }: Pick<Database, "reads">,
  { orgId, memberId, now, until }: EndedQuery,
): Promise<EndedGrants> {
  // What ends by itself has no actor, so an index has it in the order of its times.
  const { rows } = await sql<EndedRow>`
    select resource_type as type, resource_id as id, resource_path as path, before
    from (
      select resource_type, resource_id, resource_path, before, end_time, time from changes
      where org_id = ${orgId} and actor_id is null and time > ${new Date(now - keptMs)} and ${sql.raw(isInThePast)}
        ${until === undefined ? sql`` : sql`and revision <= ${until} and time <= ${new Date(now + 1)}`}
      order by actor_id desc, time desc limit ${mostEntries}
    ) as ended
    where end_time is not null and before is not null and (
      (resource_type = 'RoleBinding' and (before ->> 'member_id' = ${memberId} or before ->> 'group_id' is not null))
      or (resource_type = 'GroupMember' and before ->> 'member_id' = ${memberId})
    )
    order by time desc limit ${mostEnded}`.execute(reads);
  const bindings = rows.filter(({ type }) => type === "RoleBinding");
  return {
    bindings: bindings.map(({ before }) => toBindingRow(before as BindingColumns)),
    memberships: rows.filter(({ type }) => type === "GroupMember").map(({ before }) => before as MembershipRow),
    paths: new Map(bindings.map(({ id, path }) => [id, path])),
  };
}
