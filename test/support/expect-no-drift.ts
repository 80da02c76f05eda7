import { type Database, openDatabase } from "../../src/database/database.ts";
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
  const database = openReader(url);
  try {
    await expectNoDriftIn(database);
  } finally {
    await database.close();
  }
}

/** Opens a database for `expectNoDriftIn`. */
export function openReader(url: string): Database {
  const options = { maxReadConnections: 1, maxWriteConnections: 1, onConnectionError: () => {} };
  return openDatabase({ connection: { connectionString: url }, ...options });
}

/** Does what `expectNoDrift` does, on a connection that stays open. */
export async function expectNoDriftIn({ reads }: Pick<Database, "reads">): Promise<void> {
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
