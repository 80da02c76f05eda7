// Claims of operations. A claim is a lease by the clock of the database: `next_attempt_time` is when the operation can be claimed
// again, and `claim_token` is replaced by each claim, so that only the latest one counts. Claims and progress are in no change
// log, and change no revision.
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Later, WriteTransaction } from "../../database/write-transaction.ts";
import { type QueuedCall, createFairQueue } from "../../scheduling/fair-queue.ts";

/** How often an operation is attempted at most. */
export const maxAttempts = 10;

/** A claimed operation. */
export interface Claimed {
  readonly org_id: string;
  readonly id: string;
  readonly claim_token: string;
  readonly attempts: number;
  readonly claim_expire_time: Date;
}

/** The operations of a service that a provider can carry out. An empty list stands for all. */
export interface Claimable {
  readonly serviceId: string;
  readonly typeIds: readonly string[];
  readonly verbs: readonly string[];
  /** The empty key is that of operations without one. */
  readonly routingKeys: readonly string[];
}

/**
 * Returns a function that reports whether an operation waits to be claimed. Providers that wait ask again and again, in as many calls as
 * a caller may make at once: callers take turns, and leave other connections to lists.
 */
export function createIsAnyDue({ reads }: Database): (claimable: Claimable, call: QueuedCall) => Promise<boolean> {
  const queue = createFairQueue({ capacity: 2, perTarget: 2, perOrg: 1, of: "caller" });
  return (claimable, call) =>
    queue.run(call, async () => {
      const { rows } = await sql`${selectDue(claimable, 1, sql``)} limit 1`.execute(reads);
      return rows.length > 0;
    });
}

/**
 * Claims the operations that wait longest. Skips those that another transaction is changing.
 *
 * @param seconds how long the claims last.
 */
export async function claimOperations(
  { writes }: Pick<Database, "writes">,
  claimable: Claimable,
  count: number,
  seconds: number,
): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    with due as materialized (
      ${selectDue(claimable, count, sql`for update skip locked`)} order by time limit ${count}
    ), claimed as (
      update operations set state = 'RUNNING', claim_token = gen_random_uuid(), attempts = attempts + 1,
        next_attempt_time = now() + make_interval(secs => ${seconds})
      from due where operations.org_id = due.org_id and operations.id = due.id
      returning operations.*, due.time as due_time
    )
    select org_id, id, claim_token, attempts, next_attempt_time as claim_expire_time
    from claimed order by due_time`.execute(writes);
  return rows;
}

/**
 * Selects operations that wait, as `org_id`, `id` and `time`. Each key, or else each type, has a queue of its own in an index, so
 * that the cost does not depend on how many others wait. As many are taken from each as are wanted in all.
 */
function selectDue({ serviceId, typeIds, verbs, routingKeys }: Claimable, count: number, lock: RawBuilder<unknown>) {
  const conditions = [
    sql`service_id = ${serviceId} and end_time is null and next_attempt_time <= now() and attempts < ${maxAttempts}`,
    ...(verbs.length > 0 ? [sql`verb = any (${verbs}::text[])`] : []),
  ];
  const ofType = sql`type_id = any (${typeIds}::uuid[])`;
  const selectWhere = (...more: RawBuilder<unknown>[]) => sql`
    select org_id, id, next_attempt_time as time from operations
    where ${sql.join([...conditions, ...more], sql` and `)} order by next_attempt_time limit ${count} ${lock}`;
  if (routingKeys.length > 0) {
    const inLane = selectWhere(sql`routing_key = lane.routing_key`, ...(typeIds.length > 0 ? [ofType] : []));
    const lanes = sql`(select distinct unnest(${routingKeys}::text[]) as routing_key) as lane`;
    return sql`select due.* from ${lanes} cross join lateral (${inLane}) as due`;
  }
  if (typeIds.length > 0) {
    const lanes = sql`(select distinct unnest(${typeIds}::uuid[]) as type_id) as lane`;
    return sql`select due.* from ${lanes} cross join lateral (${selectWhere(sql`type_id = lane.type_id`)}) as due`;
  }
  return sql`select due.* from (${selectWhere()}) as due`;
}

/** The claim that a provider presents. */
export interface PresentedClaim {
  readonly serviceId: string;
  readonly orgId: string;
  readonly operationId: string;
  readonly token: string;
}

/** How a claim is renewed. */
export interface Renewal {
  readonly seconds: number;
  /** Undefined if the progress has not changed. */
  readonly progressPercent: number | undefined;
  readonly progressMessage: string | undefined;
}

/**
 * Renews a claim, if it is the latest one of its operation.
 *
 * @throws ServiceError CLAIM_VOID
 */
export async function renewClaim({ writes }: Database, claim: PresentedClaim, renewal: Renewal) {
  const { seconds, progressPercent, progressMessage } = renewal;
  const { rows } = await sql<{ claim_expire_time: Date; cancel_requested: boolean }>`
    update operations set next_attempt_time = now() + make_interval(secs => ${seconds}),
      progress_percent = coalesce(${progressPercent ?? null}, progress_percent),
      progress_message = coalesce(${progressMessage ?? null}, progress_message)
    where ${isHeld(claim)}
    returning next_attempt_time as claim_expire_time, cancel_requested`.execute(writes);
  const [row] = rows;
  if (row === undefined) throw claimVoid();
  return row;
}

/** An operation that was locked for the holder of its latest claim. */
interface LockedOperation {
  /** How often it was claimed. */
  readonly attempts: number;
}

/**
 * Locks an operation for the holder of its latest claim, until the transaction ends, together with the next statement.
 *
 * @returns the operation; nothing if the claim is void.
 */
export function lockClaimed(db: WriteTransaction, claim: PresentedClaim): Later<readonly LockedOperation[]> {
  const lock = sql<LockedOperation>`select attempts from operations where ${isHeld(claim)} for update`;
  return db.sendWithNext(lock.compile(db));
}

/** @throws ServiceError CLAIM_VOID */
export function requireClaimed([operation]: readonly LockedOperation[]): LockedOperation {
  if (operation === undefined) throw claimVoid();
  return operation;
}

/** Gives an operation back, to be claimed again after a while. */
export async function giveBack(db: WriteTransaction, claim: PresentedClaim, afterSeconds: number): Promise<void> {
  await sql`
    update operations set state = 'PENDING', claim_token = null, next_attempt_time = now() + make_interval(secs => ${afterSeconds})
    where ${isHeld(claim)}`.execute(db);
}

function isHeld({ serviceId, orgId, operationId, token }: PresentedClaim) {
  return sql`org_id = ${orgId} and id = ${operationId} and service_id = ${serviceId} and claim_token = ${token} and end_time is null`;
}

function claimVoid(): ServiceError {
  const message =
    "this claim of the operation is void: the operation has ended, or its claim has expired and it was claimed again";
  return new ServiceError("CLAIM_VOID", message);
}
