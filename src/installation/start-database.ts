import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { type Database, checkServer, openDatabase, openForMigration } from "../database/database.ts";
import type { ConnectionSettings } from "../database/primary-client.ts";
import { type Migrated, migrate } from "../database/migrate.ts";
import { findRunningServer } from "../database/embedded/find-running-server.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../database/embedded/start-embedded-postgres.ts";
import type { WhenDatabaseAnswers } from "./wait-for-database.ts";

/** An open database, with the functions to migrate and to close it. */
export interface RunningDatabase {
  readonly database: Database;
  /** What its connections are opened with. */
  readonly connection: ConnectionSettings;
  /** Migrates the database to the schema of this version. */
  readonly migrate: () => Promise<Migrated>;
  readonly close: () => Promise<void>;
}

export interface OpenOptions {
  /** The npm package with the embedded server, if it is not the one that belongs to this version. */
  readonly packageDirectory?: string | undefined;
  /** Whether a standby is as good, for a command that reads. */
  readonly acceptsStandby?: boolean;
}

/**
 * Opens the database that the configuration names, or starts the embedded one.
 *
 * @param onGone called when the embedded server cannot be kept running.
 * @param whenAnswers how to wait for a database that cannot be reached; by default, that is an error.
 * @param stopping ends a migration.
 * @throws Error that names the setting and has the reason as its cause, if the database cannot be used.
 */
export async function startDatabase(
  config: Config,
  logger: Logger,
  onGone: (error: Error) => void,
  whenAnswers: WhenDatabaseAnswers = (step) => step(),
  stopping: AbortSignal = new AbortController().signal,
  { packageDirectory, acceptsStandby = false }: OpenOptions = {},
): Promise<RunningDatabase> {
  if (config.databaseUrl !== undefined) {
    const connection = { connectionString: config.databaseUrl };
    return connectTo(connection, config, { logger, whenAnswers, stopping, acceptsStandby });
  }
  const embedded = await startEmbeddedPostgres({
    directory: embeddedDirectory(config),
    log: (level, message, fields = {}) => logger[level](fields, message),
    onGiveUp: onGone,
    ...(packageDirectory !== undefined && { packageDirectory }),
  });
  return connectTo(embedded.connection, config, { logger, whenAnswers, stopping, embedded });
}

/** Opens the database likewise for a command; if a service runs the embedded one, that. */
export async function joinDatabase(
  config: Config,
  logger: Logger,
  onGone: (error: Error) => void,
  stopping: AbortSignal,
  options: OpenOptions = {},
): Promise<RunningDatabase> {
  const running = config.databaseUrl === undefined ? await findRunningServer(embeddedDirectory(config)) : undefined;
  if (running === undefined) return startDatabase(config, logger, onGone, undefined, stopping, options);
  return connectTo(running, config, { logger, whenAnswers: (step) => step(), stopping });
}

function embeddedDirectory({ dataDirectory }: Config): string {
  return join(dataDirectory, "postgres");
}

interface ConnectOptions {
  readonly logger: Logger;
  readonly whenAnswers: WhenDatabaseAnswers;
  readonly stopping: AbortSignal;
  /** The server that ends with the connections. */
  readonly embedded?: EmbeddedPostgres;
  readonly acceptsStandby?: boolean;
}

async function connectTo(
  connection: ConnectionSettings,
  config: Config,
  { logger, whenAnswers, stopping, embedded, acceptsStandby = false }: ConnectOptions,
): Promise<RunningDatabase> {
  const database = openDatabase({
    connection,
    acceptsStandby,
    prepareStatements: config.prepareStatements,
    maxReadConnections: config.readConnections,
    maxWriteConnections: config.writeConnections,
    onConnectionError: (message) => logger.warn({ reason: message }, "a database connection failed"),
  });
  const migrateDatabase = async (): Promise<Migrated> => {
    const db = openForMigration(connection);
    try {
      return await migrate(db, { logger, signal: stopping });
    } finally {
      await db.destroy();
    }
  };
  const close = async (): Promise<void> => {
    await database.close();
    await embedded?.stop();
  };
  try {
    const version = await whenAnswers(() =>
      checkServer(database).catch((cause: unknown) => {
        const isNamed = config.databaseUrl !== undefined;
        throw isNamed ? new Error("Cannot use the database in DATABASE_URL.", { cause }) : cause;
      }),
    );
    logger.info({ version, embedded: config.databaseUrl === undefined }, "connected to PostgreSQL");
    return { database, connection, migrate: migrateDatabase, close };
  } catch (error) {
    await close();
    throw error;
  }
}
