// Whether a pooler keeps the statements of its clients. One that does not gives an error, or the result of another client's statement, once a
// client gets another connection: some time after the start, and only under load. So it is tried at the start.
import { sql } from "kysely";
import pg from "pg";
import { waitAtMost } from "../timers/wait-at-most.ts";
import type { Database } from "./database.ts";

const name = "probe_pooler";

interface Prepared {
  readonly backend: number;
  /** Whether the server knows the statement by its name. A pooler that keeps statements gives them names of its own. */
  readonly isNamed: boolean;
}

const probe = async (database: Pick<Database, "readPrepared">): Promise<Prepared | undefined> => {
  const text = `select pg_backend_pid() as backend, exists (select from pg_prepared_statements where name = '${name}') as "isNamed"`;
  const [prepared] = await database.readPrepared<Prepared>(name, text, []);
  return prepared;
};

/** How long a pooler may take for another connection. */
const longestMs = 2_000;

/**
 * Runs a statement that was prepared, while a transaction has the connection on which it was. If the pooler has that one alone, nothing else
 * can run meanwhile; but then the server must not know the statement by the name that the other clients use as well.
 *
 * @throws Error that names the setting for poolers that do not know prepared statements.
 */
export async function requireKeptStatements(database: Pick<Database, "readPrepared" | "writes">): Promise<void> {
  const prepared = await probe(database);
  const again = await database.writes.transaction().execute(async (db) => {
    const { rows } = await sql<{ backend: number }>`select pg_backend_pid() as backend`.execute(db);
    const isShared = prepared?.isNamed === true && rows[0]?.backend === prepared.backend;
    if (isShared) return { isShared, running: undefined };
    // The transaction must end, so that it can be given its connection.
    const running = probe(database).catch((error: unknown) => error);
    await waitAtMost(longestMs, running);
    return { isShared, running };
  });
  const failure = await again.running;
  const isError = failure instanceof Error;
  if (!again.isShared && !isError) return;
  if (isError && !isUnknownStatement(failure)) throw failure;
  throw new Error(
    "a pooler in front of the database keeps no prepared statements: set max_prepared_statements of PgBouncer 1.21 or newer, or TENANTRY_PREPARED_STATEMENTS=off",
    { cause: failure },
  );
}

const invalidStatementName = "26";

function isUnknownStatement(error: Error): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith(invalidStatementName) === true;
}
