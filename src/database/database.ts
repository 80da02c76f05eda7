import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import type { Schema } from "./schema.ts";

/** How to reach a PostgreSQL server: a URL, or the parts that `pg` takes. */
export type ConnectionSettings =
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string };

export interface Database {
  /** For statements outside of transactions. */
  readonly reads: Kysely<Schema>;
  /** For transactions. They have connections of their own, so writers that wait for an org's lock hold up no reader. */
  readonly writes: Kysely<Schema>;
  /** Runs a read under a name: each connection parses and plans it once. The name must always come with the same text. */
  readPrepared<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly connection: ConnectionSettings;
  readonly maxReadConnections: number;
  readonly maxWriteConnections: number;
  /** Told why a connection broke while nobody used it. */
  readonly onConnectionError: (message: string) => void;
}

/** The oldest PostgreSQL that the statements and the tests know. */
const oldestVersion = 15;

/** Opens the pools; nothing is connected before the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  let closing = false;
  const open = (max: number): pg.Pool => {
    const pool = new pg.Pool({
      ...options.connection,
      max,
      application_name: "tenantry",
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      // Bounds for whatever goes wrong: a statement, a wait for another writer, a transaction left open.
      options: "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=30s",
    });
    // When the pools close, what still happens to their connections is of no interest.
    pool.on("error", (error) => closing || options.onConnectionError(error.message));
    // One that breaks while it is in use fails the statement; the event, with nobody listening, would end the process.
    pool.on("connect", (client) => client.on("error", () => {}));
    return pool;
  };
  const readPool = open(options.maxReadConnections);
  const writePool = open(options.maxWriteConnections);
  const reads = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: readPool }) });
  const writes = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: writePool }) });
  return {
    reads,
    writes,
    async readPrepared<Row>(name: string, text: string, values: readonly unknown[]) {
      const { rows } = await readPool.query({ name, text, values: [...values] });
      return rows as Row[];
    },
    async close() {
      closing = true;
      await Promise.all([reads.destroy(), writes.destroy()]);
    },
  };
}

/** One connection without the bounds of the others: a migration takes as long as it takes, and waits for those of others. */
export function openForMigration(connection: ConnectionSettings): Kysely<Schema> {
  const pool = new pg.Pool({ ...connection, max: 1, application_name: "tenantry migrate" });
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}

/**
 * Connects once and looks at the server's version.
 *
 * @throws Error that names both versions when the server is too old.
 */
export async function checkServerVersion(database: Database): Promise<string> {
  const { rows } = await sql<{ server_version: string }>`show server_version`.execute(database.reads);
  const version = rows[0]?.server_version ?? "";
  if (Number.parseInt(version, 10) < oldestVersion) {
    throw new Error(`the database server is PostgreSQL ${version}; Tenantry needs ${oldestVersion} or newer`);
  }
  return version;
}
