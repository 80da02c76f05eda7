import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { databaseUrl, templateDatabase } from "./database-url.ts";

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Creates a separate database on the server of the tests; migrated, unless `empty`.
 *
 * @param options.copyOf the URL of another database to copy, to which nobody is connected.
 */
export async function createTestDatabase(
  options: { readonly empty?: boolean; readonly copyOf?: string } = {},
): Promise<TestDatabase> {
  const name = `${inject("databasePrefix")}${randomBytes(6).toString("hex")}`;
  // Copying files takes half of the processor time of writing them to the log, but makes a server whose files are on disks wait.
  const strategy = inject("migratedCluster") === "" ? "" : "strategy file_copy";
  const migrated = options.copyOf === undefined ? templateDatabase : new URL(options.copyOf).pathname.slice(1);
  await administer(`create database ${name} template ${options.empty === true ? "template0" : migrated} ${strategy}`);
  return {
    url: databaseUrl(inject("serverUrl"), name),
    drop: () => administer(`drop database if exists ${name} with (force)`),
  };
}

/** Creates and opens a database, and returns it with a function that removes it. */
export async function openOwnDatabase(options?: {
  empty?: boolean;
}): Promise<{ readonly database: Database; close(): Promise<void> }> {
  const { url, drop } = await createTestDatabase(options);
  const database = openDatabase({
    connection: { connectionString: url },
    maxReadConnections: 4,
    maxWriteConnections: 10,
    onConnectionError: () => {},
  });
  return {
    database,
    async close() {
      await database.close();
      await drop();
    },
  };
}

/** Creates and opens a database for a single test. */
export async function openTestDatabase(options?: { empty?: boolean }): Promise<Database> {
  const { database, close } = await openOwnDatabase(options);
  onTestFinished(close);
  return database;
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("serverUrl") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
