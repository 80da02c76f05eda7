// Connections ask for the limits of statements, or each transaction sets them: a pooler such as PgBouncer gives each transaction any
// connection, and does not pass on what a client asks for when it connects. A call with less time has shorter ones.
import { sql } from "kysely";
import { createStatementTemplate } from "./statement-template.ts";
import type { WriteTransaction } from "./write-transaction.ts";

/** In milliseconds. */
export interface StatementLimits {
  readonly statementMs: number;
  /** How long a statement waits for a lock. */
  readonly lockMs: number;
}

export const transactionLimits: StatementLimits = { statementMs: 30_000, lockMs: 10_000 };

/** Lists take no locks for which they would wait long. */
export const listLimits: StatementLimits = { statementMs: 10_000, lockMs: 5_000 };

/** A look for tables to analyse reads the catalog only. */
export const searchLimits: StatementLimits = { statementMs: 5_000, lockMs: 1_000 };

/** The sample of a large table on slow disks takes minutes. Nothing waits for it. */
export const analysisLimits: StatementLimits = { statementMs: 300_000, lockMs: 1_000 };

const idleMs = 30_000;

/**
 * Returns the server's settings for the limits, which let it compile no statement: that takes up to seconds, for statements that run for
 * milliseconds if their estimate is far off.
 */
export function settingsOf({ statementMs, lockMs }: StatementLimits): Readonly<Record<string, string>> {
  return {
    statement_timeout: `${statementMs}ms`,
    lock_timeout: `${lockMs}ms`,
    idle_in_transaction_session_timeout: `${idleMs}ms`,
    jit: "off",
  };
}

/** The shares of the time that remains to a call which a statement and a lock may take, so that it can still be answered. */
const shares = { statement: 0.8, lock: 0.7 };

/**
 * Shortens limits so that statements end before the deadline of the call.
 *
 * @param remainingMs the time until the deadline; undefined if there is none.
 */
export function limitsWithin(limits: StatementLimits, remainingMs: number | undefined): StatementLimits {
  // 0 would be no limit.
  const within = (share: number): number => Math.max(1, Math.floor((remainingMs ?? Infinity) * share));
  return {
    statementMs: Math.min(limits.statementMs, within(shares.statement)),
    lockMs: Math.min(limits.lockMs, within(shares.lock)),
  };
}

/**
 * Returns shorter limits, so that the statements of a transaction end before the deadline of the call; undefined if the limits
 * need not be shorter.
 *
 * @param remainingMs the time until the deadline; undefined if there is none.
 */
export function shortenedLimits(limits: StatementLimits, remainingMs: number | undefined): StatementLimits | undefined {
  const within = limitsWithin(limits, remainingMs);
  return within.statementMs === limits.statementMs && within.lockMs === limits.lockMs ? undefined : within;
}

/**
 * Sets shorter limits in a transaction with its next statement, so that its statements end before the deadline of the call.
 *
 * @param remainingMs the time until the deadline; undefined if there is none.
 * @param isSet whether the transaction may have other limits than the usual ones.
 */
export function limitToDeadline(
  db: WriteTransaction,
  limits: StatementLimits,
  remainingMs: number | undefined,
  isSet = false,
): void {
  const within = shortenedLimits(limits, remainingMs) ?? (isSet ? limits : undefined);
  if (within === undefined) return;
  const { statementMs, lockMs } = within;
  db.readWithNext(limitStatement(db, [`${statementMs}ms`, `${lockMs}ms`]));
}

const limitStatement = createStatementTemplate(2, (db, [statementMs, lockMs]) =>
  sql`
    select set_config('statement_timeout', ${statementMs}, true), set_config('lock_timeout', ${lockMs}, true)`.compile(
    db,
  ),
);
