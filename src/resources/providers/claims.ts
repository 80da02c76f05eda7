// Claims of operations. A claim is a lease by the clock of the database: `next_attempt_time` is when the operation can be claimed
// again, and `claim_token` is replaced by each claim, so that only the latest one counts. Claims and progress are in no change
// log, and change no revision.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type Later, type WriteTransaction, transact } from "../../database/write-transaction.ts";
import { type OperationRow, maxAttempts } from "../operations/store.ts";
import { type QueuedCall, createFairQueue } from "../../scheduling/fair-queue.ts";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import { isGuardedCustomer } from "../../database/support-required.ts";
import { required } from "../../errors/required.ts";
import { readClock, secondsAfter } from "../../database/clock.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";

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
  /** Whether those of customers that require members of the platform to be approved are among them. */
  readonly withGuarded: boolean;
}

/** Operations that wait to be claimed, the longest first, and the time for which they were searched. */
interface DueOperations {
  readonly operations: readonly Place[];
  readonly now: string;
}

interface Place {
  readonly customer_id: string;
  readonly org_id: string;
  readonly id: string;
}

/** Finds up to so many operations that wait to be claimed, but for some. It locks none: `claimFound` checks them again. */
type FindDue = (
  claimable: Claimable,
  count: number,
  call: QueuedCall,
  leftOut?: readonly Place[],
) => Promise<DueOperations>;

/**
 * Returns a function that finds operations. Providers that wait ask again and again, in as many calls as a caller may make at once:
 * callers take turns, and leave other connections to lists.
 */
function createFindDue({ reads }: Pick<Database, "reads">): FindDue {
  const queue = createFairQueue({ capacity: 2, perTarget: 2, perOrg: 1, of: "caller" });
  return (claimable, count, call, leftOut = []) =>
    queue.run(call, async () => {
      const now = await readClock(reads);
      return { operations: await readDue(reads, { claimable, now, count, leftOut }), now };
    });
}

interface DueSearch {
  readonly claimable: Claimable;
  readonly now: string;
  readonly count: number;
  readonly leftOut: readonly Place[];
}

/** Reads up to so many operations that wait at a time, the longest first. */
export async function readDue(db: Kysely<Schema>, search: DueSearch): Promise<Place[]> {
  return (await sql<Place>`${selectDue(search)} order by time limit ${search.count}`.execute(db)).rows;
}

/** How often a call searches, when other calls have claimed meanwhile what it found. */
const maxSearches = 5;

interface ClaimCall {
  readonly count: number;
  /** How long the claims last. */
  readonly seconds: number;
  readonly queued: QueuedCall;
  /** Called once before anything is claimed. */
  readonly confirm: () => Promise<unknown>;
}

/** Claims up to so many operations, those that wait longest. */
export type ClaimOperations = (claimable: Claimable, call: ClaimCall) => Promise<Claimed[]>;

export function createClaimOperations(database: Database): ClaimOperations {
  const findDue = createFindDue(database);
  return async (claimable, { count, seconds, queued, confirm }) => {
    const claimed: Claimed[] = [];
    const tried: Place[] = [];
    for (let search = 1; search <= maxSearches && claimed.length < count; search++) {
      const wanted = count - claimed.length;
      const due = await findDue(claimable, wanted, queued, tried);
      if (due.operations.length > 0 && search === 1) await confirm();
      claimed.push(...(await claimFound(database, due, seconds)));
      if (due.operations.length < wanted) break;
      tried.push(...due.operations);
    }
    return claimed;
  };
}

/**
 * Claims those of the operations that still wait. Skips those that another transaction is changing. The operations of each org are claimed
 * by a statement of their own; all are sent together.
 *
 * @param seconds how long the claims last.
 * @returns the claims, in the order of the operations.
 */
async function claimFound(
  database: Pick<Database, "writes" | "commits">,
  { operations, now }: DueOperations,
  seconds: number,
): Promise<Claimed[]> {
  if (operations.length === 0) return [];
  const byOrg = Map.groupBy(operations, (place) => place.org_id);
  const claimed = await transact(database, async (db) => {
    const claiming = [...byOrg].map(([orgId, places]) => {
      const { customer_id } = required(places[0]);
      return db.sendWithNext(claimIn({ customer_id, id: orgId }, places, now, seconds).compile(db));
    });
    await db.sendHeld();
    return claiming.flatMap((read) => read());
  });
  const byId = new Map(claimed.map((each) => [each.id, each]));
  return operations.flatMap(({ id }) => byId.get(id) ?? []);
}

function claimIn(org: OrgKey, places: readonly Place[], now: string, seconds: number) {
  return sql<Claimed>`
    with due as materialized (
      select id from operations
      where ${isInOrgOf("operations", org)} and id = any (${places.map(({ id }) => id)}::uuid[]) and ${isDue(now)} for update skip locked
    )
    update operations set state = 'RUNNING', claim_token = gen_random_uuid(), attempts = attempts + 1,
      next_attempt_time = ${secondsAfter(now, seconds)}
    from due where ${isInOrgOf("operations", org)} and operations.id = due.id
    returning operations.org_id, operations.id, claim_token, attempts, next_attempt_time as claim_expire_time`;
}

const isDue = (now: string) => sql`end_time is null and next_attempt_time <= ${now} and attempts < ${maxAttempts}`;

/**
 * Selects operations that wait, as `customer_id`, `org_id`, `id` and `time`. Each key, or else each type, has a queue of its own in an index, so
 * that the cost does not depend on how many others wait. As many are taken from each as are wanted in all.
 */
function selectDue({ claimable, now, count, leftOut }: DueSearch) {
  const { serviceId, typeIds, verbs, routingKeys, withGuarded } = claimable;
  const conditions = [
    sql`service_id = ${serviceId} and ${isDue(now)}`,
    ...(withGuarded ? [] : [sql`not ${isGuardedCustomer(sql.ref("operations.customer_id"))}`]),
    ...(verbs.length > 0 ? [sql`verb = any (${verbs}::text[])`] : []),
    ...(leftOut.length > 0 ? [sql`id <> all (${leftOut.map(({ id }) => id)}::uuid[])`] : []),
  ];
  const ofType = sql`type_id = any (${typeIds}::uuid[])`;
  const selectWhere = (...more: RawBuilder<unknown>[]) => sql`
    select customer_id, org_id, id, next_attempt_time as time from operations
    where ${sql.join([...conditions, ...more], sql` and `)} order by next_attempt_time limit ${count}`;
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

export interface PresentedClaim {
  readonly serviceId: string;
  readonly orgId: string;
  readonly operationId: string;
  readonly token: string;
}

export interface Renewal {
  readonly seconds: number;
  /** Undefined if the progress has not changed. */
  readonly progressPercent: number | undefined;
  readonly progressMessage: string | undefined;
}

/** Renews a claim, if it is the latest one of its operation. @throws ServiceError CLAIM_VOID */
export async function renewClaim({ writes }: Database, claim: PresentedClaim, renewal: Renewal) {
  const { seconds, progressPercent, progressMessage } = renewal;
  const expireTime = secondsAfter(await readClock(writes), seconds);
  const { rows } = await sql<{ claim_expire_time: Date; cancel_requested: boolean }>`
    update operations set next_attempt_time = ${expireTime},
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
  return db.readWithNext(lock.compile(db));
}

/** @throws ServiceError CLAIM_VOID */
export function requireClaimed([operation]: readonly LockedOperation[]): LockedOperation {
  if (operation === undefined) throw claimVoid();
  return operation;
}

/** Why an attempt has failed. */
interface FailedAttempt {
  readonly reason: string;
  readonly message: string;
}

/** Gives an operation back, to be claimed again after a while. Returns what this changes in its row. */
export async function giveBack(
  { db, time }: OrgTransaction,
  claim: PresentedClaim,
  { reason, message }: FailedAttempt,
  afterSeconds: number,
): Promise<Pick<OperationRow, "state" | "error_reason" | "error_message" | "next_attempt_time">> {
  const next = secondsAfter(time, afterSeconds);
  await sql`
    update operations set state = 'PENDING', claim_token = null, error_reason = ${reason}, error_message = ${message},
      next_attempt_time = ${next}
    where ${isHeld(claim)}`.execute(db);
  return { state: "PENDING", error_reason: reason, error_message: message, next_attempt_time: next };
}

function isHeld({ serviceId, orgId, operationId, token }: PresentedClaim) {
  return sql`org_id = ${orgId} and id = ${operationId} and service_id = ${serviceId} and claim_token = ${token} and end_time is null`;
}

function claimVoid(): ServiceError {
  const message =
    "this claim of the operation is void: the operation has ended, or its claim has expired and it was claimed again";
  return new ServiceError("CLAIM_VOID", message);
}
