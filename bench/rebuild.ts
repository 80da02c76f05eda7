import { registry } from "../src/catalog.ts";
import { inTransaction } from "../src/changes/write-in-org.ts";
import { openDatabase } from "../src/database/database.ts";
import { rebuildDerivedRows } from "../src/resource/rows/derived-rows.ts";

/** Counts what SQL has written and finds its labels, as the service would have. */
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
