import { type Kysely, type Transaction, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { clockMs, readClock, secondsAfter, statementTime } from "../../database/clock.ts";

/** An org or a project whose resources have to follow its state. */
export interface SweptScope {
  readonly customer_id: string;
  readonly org_id: string;
  /** The id of the project, or of the org itself. */
  readonly scope_id: string;
}

export interface SweepProgress {
  /** The id of the last resource that this round has looked at; null at its start. */
  readonly after_id: string | null;
  /** Whether this round has found a resource that has not followed yet. */
  readonly is_pending: boolean;
  readonly rounds: number;
}

/** An operation that is changing a resource. */
interface SweptOperation {
  readonly id: string;
  readonly verb: string;
  /** The state that the resource gets back if it fails. */
  readonly priorState: string | null;
  readonly isCancelRequested: boolean;
}

export interface SweptResource {
  readonly id: string;
  readonly state: string;
  readonly isDeleted: boolean;
  /** Whether it is deleted, and its purge time has passed. */
  readonly isDue: boolean;
  readonly operations: readonly SweptOperation[];
  /** Whether another resource uses it. */
  readonly isUsed: boolean;
  readonly verbs: readonly string[];
  /** The state of its project, or that of its org if this is stricter. */
  readonly container: "ACTIVE" | "SUSPENDED" | "DELETED";
}

/** The longest pause between two rounds, in seconds. */
const longestPause = 600;

/** A scope whose sweep can go on at a time, or that has none yet and needs one then. */
export interface NextSweep extends SweptScope {
  readonly isQueued: boolean;
  readonly dueMs: number;
  readonly nowMs: number;
}

/**
 * Returns scopes with the times from which their sweeps can go on, the earliest first, and the time now, in milliseconds: sweeps that are
 * queued, and projects with deleted resources whose purge time has passed or soon does. A sweep that is queued already keeps its pauses.
 *
 * @param aheadMs how long before their purge times projects are looked for, in milliseconds.
 */
export async function findNextSweeps(db: Kysely<Schema>, limit: number, aheadMs: number): Promise<NextSweep[]> {
  const { rows } = await sql<NextSweep>`
    select customer_id, org_id, scope_id, is_queued as "isQueued",
      (extract(epoch from next_time) * 1000)::float8 as "dueMs", ${clockMs} as "nowMs"
    from (
      (select customer_id, org_id, scope_id, true as is_queued, next_time from sweeps order by next_time limit ${limit})
      union all
      (select customer_id, org_id, project_id, false, min(purge_time) from resources
        where purge_time <= ${statementTime} + ${aheadMs}::float8 * interval '1 millisecond' and operation_id is null
          and not exists (select from sweeps
            where sweeps.customer_id = resources.customer_id and sweeps.org_id = resources.org_id and sweeps.scope_id = resources.project_id)
        group by customer_id, org_id, project_id order by min(purge_time) limit ${limit})
    ) as next order by next_time limit ${limit}`.execute(db);
  return rows;
}

/** Queues a sweep. Takes no lock of the org, so that it waits for nobody. */
export async function queueSweep(
  db: Kysely<Schema>,
  { customer_id: customerId, org_id: orgId, scope_id: scopeId }: SweptScope,
): Promise<void> {
  await sql`
    insert into sweeps (customer_id, org_id, scope_id) values (${customerId}, ${orgId}, ${scopeId})
    on conflict do nothing`.execute(db);
}

/** Locks a sweep until the transaction ends; undefined if another server has run it in the meantime. */
export async function lockDueSweep(
  { db, time }: OrgTransaction,
  { customer_id: customerId, org_id: orgId, scope_id: scopeId }: SweptScope,
): Promise<SweepProgress | undefined> {
  const { rows } = await sql<SweepProgress>`
    select after_id, is_pending, rounds from sweeps
    where customer_id = ${customerId} and org_id = ${orgId} and scope_id = ${scopeId} and next_time <= ${time} for update`.execute(
    db,
  );
  return rows[0];
}

export async function readSwept(
  { db, time }: OrgTransaction,
  { org_id: orgId, scope_id: scopeId }: SweptScope,
  { after_id: afterId }: SweepProgress,
  limit: number,
): Promise<SweptResource[]> {
  // Each scope has its own index: the primary key begins with the org.
  const inScope =
    scopeId === orgId
      ? sql`resources.org_id = ${orgId}`
      : sql`resources.org_id = ${orgId} and resources.project_id = ${scopeId}`;
  const later = afterId === null ? sql`true` : sql`resources.id > ${afterId}`;
  const { rows } = await sql<SweptResource>`
    select resources.id, resources.state, resources.delete_time is not null as "isDeleted",
      coalesce(resources.purge_time <= ${time}, false) as "isDue",
      coalesce(running.operations, '[]') as operations,
      exists (select from resource_references as used where used.customer_id = resources.customer_id and used.org_id = resources.org_id and used.target_id = resources.id)
        as "isUsed",
      array(select operation ->> 'verb' from jsonb_array_elements(resource_types.operations) as operation) as verbs,
      case
        when orgs.delete_time is not null or projects.delete_time is not null then 'DELETED'
        when orgs.state = 'SUSPENDED' or projects.state = 'SUSPENDED' then 'SUSPENDED'
        else 'ACTIVE'
      end as container
    from resources
    join projects on projects.customer_id = resources.customer_id and projects.org_id = resources.org_id and projects.id = resources.project_id
    join orgs on orgs.customer_id = resources.customer_id and orgs.id = resources.org_id
    join resource_types on resource_types.id = resources.type_id
    left join lateral (
      select jsonb_agg(jsonb_build_object('id', operations.id, 'verb', operations.verb,
        'priorState', operations.prior_state, 'isCancelRequested', operations.cancel_requested)) as operations
      from operations
      where resources.operation_id is not null and operations.customer_id = resources.customer_id and operations.org_id = resources.org_id
        and operations.id = any (resources.operation_id || resources.concurrent_ids)
    ) as running on true
    where ${inScope} and ${later}
    order by resources.id limit ${limit}`.execute(db);
  return rows;
}

/** Continues a round at once, after a resource. */
export async function continueSweep(
  { db, time }: OrgTransaction,
  { customer_id: customerId, org_id: orgId, scope_id: scopeId }: SweptScope,
  afterId: string,
  isPending: boolean,
): Promise<void> {
  await sql`
    update sweeps set after_id = ${afterId}, is_pending = ${isPending}, next_time = ${time}
    where customer_id = ${customerId} and org_id = ${orgId} and scope_id = ${scopeId}`.execute(db);
}

/** Begins the next round after a pause, which doubles with each round. */
export async function repeatSweep(
  { db, time }: OrgTransaction,
  { customer_id: customerId, org_id: orgId, scope_id: scopeId }: SweptScope,
  { rounds }: SweepProgress,
): Promise<void> {
  const next = secondsAfter(time, Math.min(2 ** rounds, longestPause));
  await sql`
    update sweeps set after_id = null, is_pending = false, rounds = ${rounds + 1}, next_time = ${next}
    where customer_id = ${customerId} and org_id = ${orgId} and scope_id = ${scopeId}`.execute(db);
}

/** Lets a round that failed go on after a pause, which doubles each time. */
export async function postponeSweep(
  db: Kysely<Schema>,
  { customer_id: customerId, org_id: orgId, scope_id: scopeId }: SweptScope,
): Promise<void> {
  const now = await readClock(db);
  await sql`
    update sweeps set rounds = rounds + 1,
      next_time = ${now}::timestamptz + make_interval(secs => least(power(2, least(rounds, 20)), ${longestPause}))
    where customer_id = ${customerId} and org_id = ${orgId} and scope_id = ${scopeId} and next_time <= ${now}`.execute(
    db,
  );
}

export async function endSweep(
  db: Transaction<Schema>,
  { customer_id: customerId, org_id: orgId, scope_id: scopeId }: SweptScope,
): Promise<void> {
  await sql`delete from sweeps where customer_id = ${customerId} and org_id = ${orgId} and scope_id = ${scopeId}`.execute(
    db,
  );
}
