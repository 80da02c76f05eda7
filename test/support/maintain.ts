// Statements on large tables of a test that take longer than any of a call may, above all beside other tests.
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Schema } from "../../src/database/schema.ts";

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

/** Fills tables with many rows, on a connection of its own, without these limits. */
export async function fillTables(databaseUrl: string, fill: (db: Kysely<Schema>) => Promise<void>): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  await using db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  await fill(db);
}

/** Gives the planner true figures of all tables, and lets it trust indexes alone. */
export async function vacuumAll(databaseUrl: string): Promise<void> {
  await withoutLimits(databaseUrl, (client) => client.query("vacuum analyze"));
}
