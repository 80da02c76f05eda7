import pg from "pg";
import { StandbyError } from "./primary-client.ts";
import { FormerPrimaryError } from "./timelines.ts";
import { CertificateError } from "./tls-files.ts";

/** A write has waited in vain for the locks with which it begins: other writes of the org or its customer go on, and the database is well. */
export class OrgLockedError extends pg.DatabaseError {
  constructor(timeout: pg.DatabaseError) {
    super(timeout.message, timeout.length, timeout.name);
    Object.assign(this, timeout);
  }
}

/** SQLSTATE classes and codes of failures that may be temporary. */
const passing = [
  "08", // connection exceptions
  "25006", // read_only_sql_transaction: a standby, or a server that was set to read-only
  "53", // out of connections, memory or disk
  "57P", // shutting down, crashed, starting up
  "57014", // statement_timeout
  "55P03", // lock_timeout
  "25P03", // idle_in_transaction_session_timeout
  "40", // deadlocks and serialisation failures, after the retries
];

/** System error codes of an unreachable server. */
const systemCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
]);

/** The system calls to which those codes apply. Reading a missing file fails with ENOENT too. */
const systemCalls = new Set(["connect", "read", "write", "getaddrinfo"]);

/** What waited too long for a connection of the pool: the server is busy, or too few are allowed. */
const waitedInPool = "timeout exceeded when trying to connect";

/** Errors of pg and of TLS that name no system call, when a connection breaks or cannot be opened. */
const passingMessages = [
  "Client network socket disconnected before secure TLS connection was established",
  "Connection terminated",
  waitedInPool,
  "timeout expired",
  "Client has encountered a connection error",
  "Client was closed",
];

/** Whether an error is caused by the state of the database rather than by the call or the code, so that a retry may succeed. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ([StandbyError, FormerPrimaryError, CertificateError].some((each) => error instanceof each)) return true;
  if (error instanceof pg.DatabaseError) {
    const mayPass = passing.some((code) => error.code?.startsWith(code)) || isHeadMoved(error);
    // It has the code of a connection that failed, and fails each time.
    return mayPass && !isRefusedByPooler(error);
  }
  // A host with several addresses, all of which are unreachable.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseUnavailable);
  const { code = "", syscall = "" } = error as NodeJS.ErrnoException;
  if (systemCodes.has(code) && systemCalls.has(syscall)) return true;
  return passingMessages.some((message) => error.message.startsWith(message));
}

/** Of those, the classes of SQLSTATE with which a server says that it, or the way to it, is gone. */
const goneCodes = ["08", "57P"];

/**
 * Whether an error says that no primary was reached, or that the connection to it broke. That it is busy, full or read-only, or that a lock or
 * a limit of time ended a statement, says that it was.
 */
export function isDatabaseGone(error: unknown): boolean {
  if (!isDatabaseUnavailable(error)) return false;
  if (error instanceof pg.DatabaseError) return goneCodes.some((code) => error.code?.startsWith(code));
  if (error instanceof AggregateError) return error.errors.every(isDatabaseGone);
  return error instanceof Error && error.message !== waitedInPool;
}

/**
 * Whether a transaction failed with serialization_failure or deadlock_detected, because of a stale plan, or because its lock of an org
 * did not hold, and may succeed when it is run again.
 */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === "40001" || error.code === "40P01" || isStalePlan(error) || isHeadMoved(error);
}

/**
 * Whether a write was refused because the head of its org's change log is no longer the one that it has read under the lock: the lock
 * did not hold. Its entries have no org then, which their table forbids with not_null_violation.
 */
function isHeadMoved(error: unknown): boolean {
  return violatedConstraint(error) === "changes.org_id";
}

/**
 * Whether a prepared statement failed because its result has other columns now: another server has migrated the database.
 * PostgreSQL has no code of its own for it, and translates its message.
 */
export function isStalePlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "0A000" && error.routine === "RevalidateCachedQuery";
}

/**
 * Returns the name of the constraint that a statement violated; `table.column` for a value that is missing; undefined for any other error.
 * A partition counts as its table.
 */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError) || !error.code?.startsWith("23")) return undefined;
  const { constraint, table, column } = error;
  return constraint ?? (column === undefined ? undefined : `${table?.replace(/_\d{4}_\d{2}$/, "")}.${column}`);
}

/** Whether a statement reached a limit of its time: it took too long, or waited too long for a lock. */
export function isTimeLimit(error: unknown): boolean {
  return isStatementTimeout(error) || isLockTimeout(error);
}

/** Whether a statement waited longer than `lock_timeout` for a lock. */
export function isLockTimeout(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.code === "55P03";
}

/** Whether a statement took longer than `statement_timeout`, or was cancelled. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "57014";
}

/** Whether a server has no room left on a disk: for rows, or for what a statement sorts. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "53100";
}

/** What a caller is told of an error that a retry may mend, and how long to wait before it. */
export function explainUnavailable(error: unknown): { readonly message: string; readonly retryAfterMs: number } {
  if (isDiskFull(error)) {
    const message = "the disk of the database is full; try again when its operator has made room";
    return { message, retryAfterMs: 5_000 };
  }
  if (error instanceof OrgLockedError) {
    return { message: "another change of the org or its customer is being written; try again", retryAfterMs: 1_000 };
  }
  return { message: "the database cannot be reached or is too busy; try again", retryAfterMs: 1_000 };
}

/** Whether a statement would have written to a server that takes no writes: a standby, or one that was set to read-only. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "25006";
}

/** Whether the role has no right to do what a statement does. */
export function isDenied(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "42501";
}

/** Whether PgBouncer has refused a connection because of what it asks for. */
export function isRefusedByPooler(error: unknown): error is Error {
  return error instanceof pg.DatabaseError && error.message.startsWith("unsupported startup parameter");
}
