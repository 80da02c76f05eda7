import type { Transaction } from "kysely";
import type { Database } from "../../database/database.ts";
import { isStatementTimeout } from "../../database/failure.ts";
import type { Schema } from "../../database/schema.ts";
import { limitToDeadline, listLimits } from "../../database/transaction-limits.ts";
import { ServiceError } from "../../errors/service-error.ts";

/**
 * Runs the statements of a list. They get less time than others: callers choose what lists filter.
 *
 * @param timeoutMs returns the time until the deadline of the call, in milliseconds; undefined if there is none.
 * @throws ServiceError DEADLINE_EXCEEDED when a statement takes too long. Another try would take as long.
 */
export async function inListTransaction<Result>(
  database: Database,
  timeoutMs: () => number | undefined,
  read: (db: Transaction<Schema>) => Promise<Result>,
): Promise<Result> {
  let limitMs = listLimits.statementMs;
  try {
    return await database.lists.transaction().execute(async (db) => {
      limitMs = await limitToDeadline(db, listLimits, timeoutMs());
      return read(db);
    });
  } catch (cause) {
    if (!isStatementTimeout(cause)) throw cause;
    const message = `the list took longer than the ${limitMs} ms it has; use a narrower filter or a smaller page_size`;
    throw new ServiceError("DEADLINE_EXCEEDED", message, { cause });
  }
}
