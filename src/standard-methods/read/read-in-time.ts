import type { KnownStatement } from "../../database/connection-pool.ts";
import type { Database } from "../../database/database.ts";
import { isStatementTimeout } from "../../database/failure.ts";
import { limitsWithin, listLimits, settingsOf } from "../../database/transaction-limits.ts";
import { ServiceError } from "../../errors/service-error.ts";

/**
 * Runs the statements of a list, and returns the rows of each. They get less time than others: callers choose what lists filter.
 *
 * @param settings the server's settings with which they are planned.
 * @param timeoutMs returns the time until the deadline of the call, in milliseconds; undefined if there is none.
 * @throws ServiceError DEADLINE_EXCEEDED when a statement takes too long. Another try would take as long.
 */
export async function readInTime(
  database: Database,
  statements: readonly KnownStatement[],
  settings: Readonly<Record<string, string>>,
  timeoutMs: () => number | undefined,
): Promise<unknown[][]> {
  let limits = listLimits;
  try {
    return await database.readTogether(statements, () => {
      limits = limitsWithin(listLimits, timeoutMs());
      return { ...settingsOf(limits), ...settings };
    });
  } catch (cause) {
    if (!isStatementTimeout(cause)) throw cause;
    const message = `the list took longer than the ${limits.statementMs} ms it has; use a narrower filter or a smaller page_size`;
    throw new ServiceError("DEADLINE_EXCEEDED", message, { cause });
  }
}
