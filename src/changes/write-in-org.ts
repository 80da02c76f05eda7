// Every write runs in one transaction that holds the row lock of its org, so that the writes in an org run one after the other
// and each sees the result of the one before. Its changes are appended to `changes` as the org's next revision. Because the
// lock is held until the commit, revisions are in commit order, without gaps. The deletion of a resource stands for everything
// below it, which gets no entries of its own.
import type { Database } from "../database/database.ts";
import { limitToDeadline, transactionLimits } from "../database/transaction-limits.ts";
import { isRetryable } from "../database/failure.ts";
import type { Author, AuthorHead } from "./author.ts";
import { chainEndOf, sealInTurns } from "./chain.ts";
import type { Change } from "./change.ts";
import { type TimedRevision, appendEntries, entriesOf, insertEntries, noteAppended } from "./entries.ts";
import { type NewId, createIdSource } from "./id-source.ts";
import { type LockedOrgRow, requireActiveOrg } from "./lock-org.ts";
import { nextRevision } from "./revision.ts";
import { formatMicroseconds } from "./revision-time.ts";
import { type WriteLocks, lockWithNext, takeLocks } from "./write-locks.ts";
import { type End, type WriteTransaction, transact } from "../database/write-transaction.ts";

/** A transaction that holds the lock of an org, or of a customer whose log it writes to. */
export interface OrgTransaction {
  readonly db: WriteTransaction;
  /** The org, or the customer in the place of one (`isLogOfCustomer`). */
  readonly org: LockedOrgRow;
  readonly author: Author;
  /** The author's org, as it was read under the lock; undefined for the service itself. */
  readonly authorHead?: AuthorHead | undefined;
  /** The revision of this write, which is set on the rows that it changes. */
  readonly revision: string;
  /** The time of this write, in microseconds as PostgreSQL writes it. It is later than that of the revision before. */
  readonly time: string;
  /** Returns the id of something new. Ids are in the order of the writes. */
  readonly newId: NewId;
  /** The changes so far. When the write ends, they are appended to the org's change log, each as an entry. */
  readonly changes: readonly Change[];
  /** Adds a change. */
  readonly record: (change: Change) => void;
  /**
   * Reads what no write of the transaction changes. Writes that share the transaction share what was read after the later one of
   * them was called, and its locks.
   *
   * @param key identifies what is read.
   */
  readonly readOnce: <Value>(key: string, read: () => Promise<Value>) => Promise<Value>;
}

const maxAttempts = 3;

/** How long the caller of a transaction waits for it. */
export interface CallTime {
  /** Aborted when the caller no longer waits. */
  readonly signal: () => AbortSignal;
  /** Returns the time until the deadline, in milliseconds; undefined if there is none. */
  readonly remainingMs: () => number | undefined;
  /** How long a statement may wait for a lock, in milliseconds; as long as in all transactions if it is undefined. */
  readonly lockMs?: number | undefined;
}

/**
 * Runs a transaction. Retries it a bounded number of times if it fails because of a concurrent one.
 *
 * @param call the statements end before its deadline, and the transaction is rolled back once its caller no longer waits. Rejects
 *   with the reason of its signal then. By default, nobody waits.
 * @param end how it ends when `run` has returned a result. By default, it is committed.
 */
export async function inTransaction<Result>(
  database: Database,
  run: (db: WriteTransaction) => Promise<Result>,
  call?: CallTime,
  end?: End,
): Promise<Result> {
  const runInTime = async (db: WriteTransaction): Promise<Result> => {
    if (call === undefined) return run(db);
    const { lockMs = transactionLimits.lockMs } = call;
    const limits = { ...transactionLimits, lockMs };
    limitToDeadline(db, limits, call.remainingMs(), lockMs !== transactionLimits.lockMs);
    const result = await run(db);
    call.signal().throwIfAborted();
    return result;
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(database, runInTime, end);
    } catch (error) {
      if (attempt >= maxAttempts || !isRetryable(error)) throw error;
    }
  }
}

/**
 * Begins a write in an org: takes its locks, and checks that its author may still write.
 *
 * @throws ServiceError RESOURCE_NOT_FOUND when there is no such org, STATE_FORBIDS when it must be active and is not,
 *   PERMISSION_DENIED or TOKEN_INVALID when the author may no longer write.
 */
export async function beginWrite(db: WriteTransaction, locks: WriteLocks, author: Author): Promise<OrgTransaction> {
  const locking = lockWithNext(db, locks);
  const found = author.confirm.readWithNext?.(db);
  await takeLocks(db);
  const org = locking();
  const authorHead = await author.confirm(db, org, undefined, found?.());
  if (!("logOfCustomer" in locks) && locks.state !== "any") requireActiveOrg(org);
  const [revision, time] = [nextRevision(org.revision), formatMicroseconds(org.nextTime)];
  return createOrgTransaction({ db, org, author, authorHead, revision, time, readOnce: (_key, read) => read() });
}

/** Creates the transaction of a write that has begun, without entries. */
export function createOrgTransaction(begun: Omit<OrgTransaction, "newId" | "changes" | "record">): OrgTransaction {
  const changes: Change[] = [];
  return { ...begun, newId: createIdSource(begun.time), changes, record: (change) => changes.push(change) };
}

/**
 * Ends a write in an org: appends its entries to the change log, as the org's next revision. Without entries the revision does
 * not change.
 */
export async function endWrite({ db, org, author, revision, time, changes }: OrgTransaction): Promise<void> {
  if (changes.length === 0) return;
  const head = { org, revision, time, timeline: org.timeline };
  const { entries, end: chain } = await sealInTurns(chainEndOf(org), entriesOf(head, author, changes));
  appendEntries(db, { ...head, chain }, entries, org.revision);
  noteAppended(db, org, entries);
}

/** Runs a write in an org: begins it, calls `write` and ends it. */
export async function writeInOrg<Result>(
  db: WriteTransaction,
  locks: WriteLocks,
  author: Author,
  write: (transaction: OrgTransaction) => Promise<Result>,
): Promise<Result> {
  const transaction = await beginWrite(db, locks, author);
  const result = await write(transaction);
  await endWrite(transaction);
  return result;
}

/**
 * Begins the change log of an org or a customer that was just created.
 *
 * @param hasWebhooks whether the customer of the org has a webhook that delivers.
 */
export async function beginLog(
  db: WriteTransaction,
  first: TimedRevision,
  author: Author,
  changes: readonly Change[],
  hasWebhooks = false,
): Promise<void> {
  const { entries, end: chain } = await sealInTurns(undefined, entriesOf(first, author, changes));
  await insertEntries(db, entries, { ...first, chain });
  const lockedAt = performance.now();
  // Nothing else can follow it yet.
  const followed = { is_watched: false, has_webhooks: hasWebhooks, has_event_streams: false };
  db.noteWritten({ orgId: first.org.id, before: undefined, entries, lockedAt, ...followed });
}
