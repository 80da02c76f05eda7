// What was removed from an org since a moment, to which others referred.
import { type RawBuilder, type SqlBool, type Transaction, sql } from "kysely";
import { type Moment, expired, isKept, isLater, isUntil } from "../../changes/past/find-moment.ts";
import { timeText } from "../../database/clock.ts";
import type { OrgKey } from "../../database/org-key.ts";
import { readInChunks } from "../../database/read-in-chunks.ts";
import type { Schema } from "../../database/schema.ts";
import type { GoneEntity } from "./gone-entities.ts";
import { referredTypes } from "./past-tables.ts";

/** The condition of entries by which something to which others refer was removed since. */
const isRemoval = (org: OrgKey, moment: Moment): RawBuilder<SqlBool> => sql`
  customer_id = ${org.customer_id} and org_id = ${org.id} and resource_type = any(${referredTypes}) and after is null
  and ${isLater(moment)}`;

/** The same, of entries after a moment and up to another one. */
export const isRemovalBetween = (org: OrgKey, from: Moment, to: Moment): RawBuilder<SqlBool> =>
  sql`${isRemoval(org, from)} and ${isUntil(to)}`;

/** The condition of those of something whose creation is no longer in the log. What referred to it is newer. */
const isOfOlder = (moment: Moment) => sql`
  not exists (
    select from changes as creations
    where creations.customer_id = changes.customer_id and creations.org_id = changes.org_id
      and creations.resource_id = changes.resource_id and creations.resource_type = changes.resource_type
      and creations.before is null and creations.${isKept(moment)}
  )`;

/** Returns the condition that something was purged since, and that the log has not all that referred to it. @param id of it. */
export const isGone = (org: OrgKey, moment: Moment, id: RawBuilder<unknown>): RawBuilder<SqlBool> => sql<SqlBool>`
  exists (select from changes where resource_id = ${id} and ${isRemoval(org, moment)} and ${isOfOlder(moment)})`;

/**
 * Finds out whether something to which others refer was removed since, and whether the log may lack what referred to it.
 *
 * @throws ServiceError REVISION_EXPIRED when that is a group or role: what others could do is not known.
 */
export async function readRemovals(
  db: Transaction<Schema>,
  org: OrgKey,
  moment: Moment,
): Promise<{ readonly hasRemovals: boolean; readonly isCut: boolean }> {
  const { rows } = await sql<{ removed: boolean; cut: boolean; type: string | null; revision: string; time: string }>`
    select exists (select from changes where ${isRemoval(org, moment)}) as removed, older is not null as cut,
      unknown.resource_type as type, unknown.revision, ${timeText(sql`unknown.time`)} as time
    from (select) as one
    left join lateral (select 1 as found from changes where ${isRemoval(org, moment)} and ${isOfOlder(moment)} limit 1) as older on true
    left join lateral (
      select resource_type, revision, time from changes
      where ${isRemoval(org, moment)} and resource_type in ('Group', 'Role') and ${isOfOlder(moment)}
      order by changes.time desc, changes.revision desc limit 1
    ) as unknown on true`.execute(db);
  const [found] = rows;
  if (found === undefined) throw new Error("a left join has a row");
  if (found.type !== null) {
    throw expired(
      `the log of the Org no longer has all that referred to a ${found.type} which was deleted since`,
      found,
    );
  }
  return { hasRemovals: found.removed, isCut: found.cut };
}

const goneOfChunk = 500;

/** Reads those whose creation is no longer in the log. */
export function readGone(db: Transaction<Schema>, org: OrgKey, moment: Moment): AsyncIterable<readonly GoneEntity[]> {
  const select = sql<GoneEntity>`
    select resource_type as type, resource_id as id, coalesce(
      (
        select later.before ->> 'name' from changes as later
        where later.customer_id = changes.customer_id and later.org_id = changes.org_id and later.resource_id = changes.resource_id
          and later.resource_type = changes.resource_type and later.revision > ${moment.revision}
          and later.${isKept(moment)}
        order by later.revision, later.position limit 1
      ),
      before ->> 'name'
    ) as name from changes
    where ${isRemoval(org, moment)} and ${isOfOlder(moment)}`;
  return readInChunks(db, select, goneOfChunk);
}
