import pg from "pg";

/** The SQLSTATE classes and codes after which the same call may go through later. */
const passing = [
  "08", // connection exceptions
  "53", // out of connections, memory or disk
  "57P", // shutting down, crashed, starting up
  "57014", // statement_timeout
  "55P03", // lock_timeout
  "25P03", // idle_in_transaction_session_timeout
  "40", // deadlock and serialisation failures that were not worth another try
];

/** System errors of a server that cannot be reached. */
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

/** The system calls that fail with them; a file that is not there is ENOENT too. */
const systemCalls = new Set(["connect", "read", "write", "getaddrinfo"]);

/** What pg says, in words alone, when a connection breaks or none is to be had. */
const passingMessages = [
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "timeout expired",
  "Client has encountered a connection error",
  "Client was closed",
];

/** Whether the database, rather than the call or the code, is why it failed, so that it may work when tried again. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return passing.some((code) => error.code?.startsWith(code));
  // A host of several addresses, none of which can be reached.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseUnavailable);
  const { code = "", syscall = "" } = error as NodeJS.ErrnoException;
  if (systemCodes.has(code) && systemCalls.has(syscall)) return true;
  return passingMessages.some((message) => error.message.startsWith(message));
}

/** Whether a transaction lost against another one and may win when run again: serialization_failure, deadlock_detected. */
export function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40001" || error.code === "40P01");
}

/** The name of the constraint that a statement ran into, if that is why it failed. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code?.startsWith("23") ? error.constraint : undefined;
}
