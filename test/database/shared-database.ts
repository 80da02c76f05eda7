import { afterAll, beforeAll } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { createTestDatabase } from "../support/test-database.ts";

/** Opens one database for all tests of a file, for tests that use only their own rows. */
export function useSharedDatabase(): () => Database {
  let database: Database;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const created = await createTestDatabase();
    drop = created.drop;
    database = openDatabase({
      connection: { connectionString: created.url },
      maxReadConnections: 4,
      maxWriteConnections: 10,
      onConnectionError: () => {},
    });
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });
  return () => database;
}
