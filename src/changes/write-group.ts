// Writes of one org that share a transaction: its lock, its commit, and one statement for the entries of all. Each has a revision of
// its own and sees what the writes before it have left. Access is decided from what is committed, so a write that may change
// access is the last of its group.
import { sql } from "kysely";
import { limitToDeadline, shortenedLimits, transactionLimits } from "../database/transaction-limits.ts";
import type { Entry } from "../database/commits.ts";
import { isDatabaseUnavailable, isRetryable } from "../database/failure.ts";
import type { Author } from "./author.ts";
import { type ChainEnd, chainEndOf, seal } from "./chain.ts";
import { mayChangeAccess } from "./access-change.ts";
import { appendEntries, entriesOf, noteAppended } from "./entries.ts";
import { type LockedOrgRow, requireActiveOrg } from "./lock-org.ts";
import { nextRevision } from "./revision.ts";
import { formatMicroseconds, parseMicroseconds } from "./revision-time.ts";
import { type OrgTransaction, createOrgTransaction } from "./write-in-org.ts";
import { type OrgLocks, type WriteLocks, lockWithNext, takeLocks } from "./write-locks.ts";
import type { WriteTransaction } from "../database/write-transaction.ts";

/** The state of a group after some of its writes. */
interface Written {
  readonly revision: string;
  /** The time of the next write in microseconds, if no time passes. */
  readonly nextTime: number;
  readonly entries: readonly Entry[];
  /** The end of the chain with them. */
  readonly chain: ChainEnd | undefined;
  readonly isLast: boolean;
  /** What the writes have read, by its key. A rollback to a savepoint ends locks, so it forgets what was read, too. */
  readonly reads: ReadonlyMap<string, KeptRead>;
}

interface KeptRead {
  /** When the read began, by `performance.now()`. */
  readonly startedAt: number;
  readonly value: unknown;
}

export interface WriteGroup {
  readonly db: WriteTransaction;
  readonly locks: OrgLocks;
  readonly org: LockedOrgRow;
  /** When the lock was taken, by `performance.now()`. */
  readonly lockedAt: number;
  written: Written;
  /** The number of savepoints. */
  savepoints: number;
  /** When the write was called that runs now, by `performance.now()`. */
  calledAt: number;
  /** The time to a deadline, for which the limits of statements are set, in milliseconds. */
  remainingMs: number;
}

/**
 * Takes the locks of a group, within the time that remains to its first call.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND
 */
export async function beginGroup(
  db: WriteTransaction,
  locks: OrgLocks,
  remainingMs = Number.POSITIVE_INFINITY,
): Promise<WriteGroup> {
  // The wait for the customer has these limits, too.
  if (locks.customer === true) limitToDeadline(db, transactionLimits, remainingMs);
  const ofOrg = locks.customer === true ? undefined : shortenedLimits(transactionLimits, remainingMs);
  const locking = lockWithNext(db, locks, ofOrg);
  await takeLocks(db);
  const locked = locking();
  const org = { ...locked, confirmed: new Set<string>() };
  const { revision, nextTime } = locked;
  const chain = chainEndOf(locked);
  const written = { revision, nextTime, entries: [], chain, isLast: false, reads: new Map<string, KeptRead>() };
  const lockedAt = performance.now();
  return { db, locks, org, lockedAt, calledAt: lockedAt, written, savepoints: 0, remainingMs };
}

/**
 * Begins a write of a group, like `beginWrite`. The org has the revision that is committed, from which access is decided.
 *
 * @param locks of the write, which the group has.
 * @throws ServiceError STATE_FORBIDS when the org must be active and is not, PERMISSION_DENIED or TOKEN_INVALID when the author may
 *   no longer write.
 */
export async function beginInGroup(group: WriteGroup, locks: WriteLocks, author: Author): Promise<OrgTransaction> {
  const { db, lockedAt, written } = group;
  if ("logOfCustomer" in locks || (locks.customer === true && group.locks.customer !== true))
    throw new Error("a write needs a lock that its group lacks");
  const elapsedMs = performance.now() - lockedAt;
  const lockTime = new Date(group.org.lockTime.getTime() + elapsedMs);
  const org = { ...group.org, lockTime };
  const authorHead = await author.confirm(db, org);
  if (locks.state !== "any") requireActiveOrg(org);
  // The clock may be behind the time of the last revision.
  const time = formatMicroseconds(Math.max(written.nextTime, org.clock + Math.floor(elapsedMs * 1000)));
  const revision = nextRevision(written.revision);
  const readOnce = createReadOnce(group, group.calledAt);
  return createOrgTransaction({ db, org, author, authorHead, revision, time, readOnce });
}

/** A write must see what was committed before it was called, so it uses only what was read since. */
function createReadOnce(group: WriteGroup, calledAt: number): OrgTransaction["readOnce"] {
  return async <Value>(key: string, read: () => Promise<Value>): Promise<Value> => {
    const kept = group.written.reads.get(key);
    if (kept !== undefined && kept.startedAt >= calledAt) return kept.value as Value;
    const startedAt = performance.now();
    const value = await read();
    group.written = { ...group.written, reads: new Map(group.written.reads).set(key, { startedAt, value }) };
    return value;
  };
}

/** Ends a write of a group. Its entries are appended with those of the others. */
export function endInGroup(group: WriteGroup, { org, author, revision, time, changes }: OrgTransaction): void {
  if (changes.length === 0) return;
  const written = entriesOf({ org, revision, time, timeline: org.timeline }, author, changes);
  const { entries, end } = seal(group.written.chain, written);
  group.written = {
    ...group.written,
    revision,
    nextTime: parseMicroseconds(time) + 1,
    entries: [...group.written.entries, ...entries],
    chain: end,
    isLast: changes.some(mayChangeAccess),
  };
}

/** The part of the time of the limits that are set which a write needs, so that its statements still end before its deadline. */
const enough = 0.9;

/** Sets the limits of the statements of a write, unless those that are set are about the same and end before its deadline. */
export function limitInGroup(group: WriteGroup, remainingMs = Number.POSITIVE_INFINITY): void {
  if (remainingMs >= group.remainingMs * enough && remainingMs / 2 <= group.remainingMs) return;
  limitToDeadline(group.db, transactionLimits, remainingMs, true);
  group.remainingMs = remainingMs;
}

/**
 * Extends the limits for the end of a group, which is that of all its writes, to the longest time that remains to one of them.
 *
 * @param remaining undefined for a write without a deadline.
 */
export function extendLimits(group: WriteGroup, remaining: readonly (number | undefined)[]): void {
  const longest = Math.max(...remaining.map((ms = Number.POSITIVE_INFINITY) => ms));
  if (longest > group.remainingMs) limitInGroup(group, longest);
}

/** What came of a write of a group. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/**
 * Runs a write of a group in a savepoint. If it fails, nothing of it is left.
 *
 * @throws Error when the whole transaction has failed.
 */
export async function inSavepoint(group: WriteGroup, write: () => Promise<unknown>): Promise<Outcome> {
  const { db, written, remainingMs } = group;
  const number = ++group.savepoints;
  // Each has its own name: a savepoint that was not set, because the transaction had failed, is never mistaken for another.
  const release = number === 1 ? "" : `release savepoint write_${number - 1}; `;
  db.sendWithNext(sql.raw(`${release}savepoint write_${number}`).compile(db));
  try {
    return { result: await write() };
  } catch (error) {
    if (isRetryable(error)) throw error;
    try {
      await sql.raw(`rollback to savepoint write_${number}`).execute(db);
    } catch (failure) {
      // A connection that is lost is told by the statement that lost it.
      throw isDatabaseUnavailable(error) ? error : failure;
    }
    // The limits are those from before, too.
    Object.assign(group, { written, remainingMs });
    return { error };
  }
}

/** Ends a group: appends the entries of its writes to the change log. */
export function endGroup({ db, org, written }: WriteGroup): void {
  const { revision, entries, chain } = written;
  const last = entries.at(-1);
  if (last === undefined) return;
  appendEntries(db, { org, revision, time: last.time, chain }, entries, org.revision);
  noteAppended(db, org, entries);
}
