// Statements on large tables of a test that take longer than any of a call may, above all beside other tests.
import pg from "pg";

/** Runs statements on a connection of their own, without the limits that the service sets for its statements. */
export async function withoutLimits<Result>(
  databaseUrl: string,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Gives the planner true figures of all tables, and lets it trust indexes alone. */
export async function vacuumAll(databaseUrl: string): Promise<void> {
  await withoutLimits(databaseUrl, (client) => client.query("vacuum analyze"));
}
