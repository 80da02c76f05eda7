import type { Client } from "pg";

/**
 * Creates the service's database if it does not exist: after initdb, or after a first start that was killed before this step.
 */
export async function ensureDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = 'tenantry'");
  if (rowCount === 0) await client.query("create database tenantry");
}
