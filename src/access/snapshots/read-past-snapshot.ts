// Reads the snapshot of an org as it was at a revision.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Transaction, sql } from "kysely";
import { type Moment, expired } from "../../changes/past/find-moment.ts";
import { isLater, readPastRows } from "../../changes/past/read-past-rows.ts";
import { timeText } from "../../database/clock.ts";
import type { Database } from "../../database/database.ts";
import type { OrgKey } from "../../database/org-key.ts";
import { isInThePast } from "../../database/partitions.ts";
import { readInChunks } from "../../database/read-in-chunks.ts";
import type { Schema } from "../../database/schema.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { OrgRow } from "../engine/loading/rows.ts";
import { type OrgSnapshot, type OrgSnapshotOptions, createOrgSnapshot } from "../engine/org-snapshot.ts";
import { type GoneEntities, type GoneEntity, createGoneEntities } from "./gone-entities.ts";
import { pastTables, referredTypes } from "./past-tables.ts";

export interface PastSnapshot {
  readonly snapshot: OrgSnapshot;
  /** Those that were there and are not in the snapshot: they are purged, and the log has not all that referred to them. */
  readonly gone: GoneEntities;
}

type ReadOptions = Omit<OrgSnapshotOptions, "org"> & {
  /** Ends it. What waits for nobody would have a connection and a turn for as long as it takes. */
  readonly signal: () => AbortSignal;
};

/**
 * Builds the snapshot. Holds no lock of the org. Other work on the event loop runs in between.
 *
 * @throws ServiceError REVISION_EXPIRED when the log does not have all of it, RESOURCE_NOT_FOUND, SERVICE_UNAVAILABLE.
 */
export function readPastSnapshot(
  { reads }: Pick<Database, "reads">,
  orgId: string,
  moment: Moment,
  { signal, ...options }: ReadOptions,
): Promise<PastSnapshot> {
  return reads
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (db) => {
      const org = await readPastOrg(db, orgId, moment);
      const { hasRemovals, isCut } = await readRemovals(db, org, moment);
      const gone = createGoneEntities();
      if (isCut) for await (const rows of readGone(db, org, moment)) gone.add(rows);
      const snapshot = createOrgSnapshot({ ...options, org: { ...org.row, revision: moment.revision } });
      for (const { load, ...table } of pastTables) {
        signal().throwIfAborted();
        for await (const rows of readPastRows(db, org, moment, table, hasRemovals)) {
          load(snapshot, gone.isEmpty() ? rows : rows.filter((row) => !gone.hasId((row as { id?: string }).id ?? "")));
          await nextTurn();
          signal().throwIfAborted();
        }
      }
      // The statements of a transaction that spans the move of a distributed table may see two states.
      const { rows } = await sql<{ revision: string }>`select revision from orgs where id = ${orgId}`.execute(db);
      if (rows[0]?.revision !== org.head) throw movedMeanwhile();
      return { snapshot, gone };
    });
}

function movedMeanwhile(): ServiceError {
  return new ServiceError("SERVICE_UNAVAILABLE", "failed to read the org as it was; try again");
}

interface PastOrg extends OrgKey {
  readonly head: string;
  readonly row: OrgRow;
  /** Whether the log still has the moment, and so what followed. */
  readonly is_kept: boolean;
}

async function readPastOrg(db: Transaction<Schema>, orgId: string, moment: Moment): Promise<PastOrg> {
  const { rows } = await sql<PastOrg>`
    select id, customer_id, orgs.revision as head, coalesce(
      (
        select before from changes
        where customer_id = orgs.customer_id and org_id = orgs.id and resource_id = orgs.id and resource_type = 'Org'
          and ${isLater(moment)} and ${sql.raw(isInThePast)}
        order by revision, position limit 1
      ),
      jsonb_build_object('id', id, 'name', name, 'customer_id', customer_id, 'state', state, 'delete_time', delete_time, 'labels', labels)
    ) as row, (
      orgs.revision = ${moment.revision} or exists (
        select from changes
        where customer_id = orgs.customer_id and org_id = orgs.id and changes.revision = ${moment.revision}
          and ${sql.raw(isInThePast)}
      )
    ) as is_kept
    from orgs where id = ${orgId}`.execute(db);
  const [org] = rows;
  if (org === undefined) throw new ServiceError("RESOURCE_NOT_FOUND", `there is no org @${orgId}`);
  // It can be cut, or a failover lose it, while the call waits.
  if (!org.is_kept) throw movedMeanwhile();
  return org;
}

/** The condition of entries by which something to which others refer was removed since. */
const isRemoval = (org: OrgKey, moment: Moment) => sql`
  customer_id = ${org.customer_id} and org_id = ${org.id} and resource_type = any(${referredTypes}) and after is null
  and ${isLater(moment)} and ${sql.raw(isInThePast)}`;

/** The condition of those of something whose creation is no longer in the log. What referred to it is newer. */
const isOfOlder = sql`
  not exists (
    select from changes as creations
    where creations.customer_id = changes.customer_id and creations.org_id = changes.org_id
      and creations.resource_id = changes.resource_id and creations.resource_type = changes.resource_type
      and creations.before is null and ${sql.raw(isInThePast)}
  )`;

/**
 * Finds out whether something to which others refer was removed since, and whether the log may lack what referred to it.
 *
 * @throws ServiceError REVISION_EXPIRED when that is a group or role: what others could do is not known.
 */
async function readRemovals(
  db: Transaction<Schema>,
  org: OrgKey,
  moment: Moment,
): Promise<{ readonly hasRemovals: boolean; readonly isCut: boolean }> {
  const { rows } = await sql<{ removed: boolean; cut: boolean; type: string | null } & Moment>`
    select exists (select from changes where ${isRemoval(org, moment)}) as removed, older is not null as cut,
      unknown.resource_type as type, unknown.revision, ${timeText(sql`unknown.time`)} as time
    from (select) as one
    left join lateral (select 1 as found from changes where ${isRemoval(org, moment)} and ${isOfOlder} limit 1) as older on true
    left join lateral (
      select resource_type, revision, time from changes
      where ${isRemoval(org, moment)} and resource_type in ('Group', 'Role') and ${isOfOlder}
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

function readGone(db: Transaction<Schema>, org: OrgKey, moment: Moment): AsyncIterable<readonly GoneEntity[]> {
  const select = sql<GoneEntity>`
    select resource_type as type, resource_id as id, coalesce(
      (
        select later.before ->> 'name' from changes as later
        where later.customer_id = changes.customer_id and later.org_id = changes.org_id and later.resource_id = changes.resource_id
          and later.resource_type = changes.resource_type and later.revision > ${moment.revision}
          and later.${sql.raw(isInThePast)}
        order by later.revision, later.position limit 1
      ),
      before ->> 'name'
    ) as name from changes
    where ${isRemoval(org, moment)} and ${isOfOlder}`;
  return readInChunks(db, select, goneOfChunk);
}
