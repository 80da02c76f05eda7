import type { Client } from "pg";

/** Makes the service's database when it is not there: after initdb, or when a first start was killed before this. */
export async function ensureDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = 'tenantry'");
  if (rowCount === 0) await client.query("create database tenantry");
}
