import { registry } from "../src/resource-registry.ts";
import { inTransaction } from "../src/changes/write-in-org.ts";
import { openDatabase } from "../src/database/database.ts";
import { rebuildDerivedRows } from "../test/support/derived-rows.ts";

/** Recomputes counts and labels after rows were written with SQL. */
export async function rebuild(databaseUrl: string): Promise<void> {
  const connection = { connectionString: databaseUrl };
  const options = { maxReadConnections: 1, maxWriteConnections: 1, onConnectionError: () => {} };
  const database = openDatabase({ connection, ...options });
  try {
    await inTransaction(database, (db) => rebuildDerivedRows(db, registry));
  } finally {
    await database.close();
  }
}
