// Whether a pooler keeps the statements of its clients. One that does not gives an error, or the result of another client's statement, once a
// client gets another connection: some time after the start, and only under load. So it is tried at the start.
import { sql } from "kysely";
import pg from "pg";
import { waitAtMost } from "../timers/wait-at-most.ts";
import type { Database } from "./database.ts";

const probe = (database: Pick<Database, "readPrepared">): Promise<unknown> =>
  database.readPrepared("probe_pooler", "select 1 as one", []);

/** How long a pooler may take for another connection. One with a single connection has none, and cannot lose a statement. */
const longestMs = 2_000;

/**
 * Runs a statement that was prepared, while a transaction has the connection on which it was.
 *
 * @throws Error that names the setting for poolers that do not know prepared statements.
 */
export async function requireKeptStatements(database: Pick<Database, "readPrepared" | "writes">): Promise<void> {
  await probe(database);
  const again = await database.writes.transaction().execute(async (db) => {
    await sql`select 1`.execute(db);
    // The transaction must end, so that it can be given its connection.
    const running = probe(database).catch((error: unknown) => error);
    await waitAtMost(longestMs, running);
    return { running };
  });
  const failure = await again.running;
  if (!(failure instanceof Error)) return;
  if (!(failure instanceof pg.DatabaseError) || !failure.code?.startsWith(invalidStatementName)) throw failure;
  throw new Error(
    "a pooler in front of the database keeps no prepared statements: set max_prepared_statements of PgBouncer 1.21 or newer, or TENANTRY_PREPARED_STATEMENTS=off",
    { cause: failure },
  );
}

const invalidStatementName = "26";
