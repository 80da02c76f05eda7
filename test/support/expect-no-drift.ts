import { createHash } from "node:crypto";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { nameOfTest } from "../../scripts/statements/statement-identity.ts";
import type { Schema } from "../../src/database/schema.ts";
import { registry } from "../../src/resource-registry.ts";
import { findDrift } from "./derived-rows.ts";
import { findCustomerDrift } from "./find-customer-drift.ts";
import { findDirectoryDrift } from "./find-directory-drift.ts";
import { findLedgerDrift } from "./find-ledger-drift.ts";

/**
 * Recounts the derived rows of the whole database, and looks up the customers of all rows.
 *
 * @throws Error if the counts, labels, quotas, directory or customers differ from those that the write path has maintained.
 */
export async function expectNoDrift(url: string): Promise<void> {
  const reader = await openReader(url);
  try {
    await expectNoDriftIn(reader);
  } finally {
    await reader.destroy();
  }
}

/**
 * Opens a connection for `expectNoDriftIn`, on which each statement is planned once: each reads all tables, which takes longer to plan
 * than to do.
 */
export async function openReader(url: string): Promise<Kysely<Schema>> {
  const client = new pg.Client({ connectionString: url, options: "-c plan_cache_mode=force_generic_plan -c jit=off" });
  await client.connect();
  const connection = {
    query: (text: string, values: unknown[]) =>
      client.query({ name: nameOfTest + createHash("sha1").update(text).digest("hex"), text, values }),
    release: () => {},
  };
  const pool = { connect: () => Promise.resolve(connection), end: () => client.end() };
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: pool as unknown as pg.Pool }) });
}

/** Does what `expectNoDrift` does, on a connection that stays open. */
export async function expectNoDriftIn(reads: Kysely<Schema>): Promise<void> {
  const drift = await findDrift(reads, registry);
  if (drift.length > 0)
    throw new Error(`counts or labels are not what the rows say: ${JSON.stringify(drift.slice(0, 5))}`);
  const ledgerDrift = await findLedgerDrift(reads);
  if (ledgerDrift.length > 0)
    throw new Error(`quotas are not the sums of what resources hold: ${JSON.stringify(ledgerDrift.slice(0, 5))}`);
  const directoryDrift = await findDirectoryDrift(reads);
  if (directoryDrift.length > 0)
    throw new Error(`the directory is not what the rows say: ${JSON.stringify(directoryDrift.slice(0, 5))}`);
  const customerDrift = await findCustomerDrift(reads);
  if (customerDrift.length > 0)
    throw new Error(`rows do not have the customer of their org: ${JSON.stringify(customerDrift)}`);
}
