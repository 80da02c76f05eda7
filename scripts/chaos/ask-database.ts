// Statements on one database server, each on a connection of its own: the server may be killed at any time.
import pg from "pg";

/** Runs a statement, and returns its rows. It fails after a minute, if nothing else is said. */
export async function askDatabase(
  connectionString: string,
  text: string,
  values: readonly unknown[] = [],
  timeoutMs = 60_000,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
