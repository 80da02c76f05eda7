import { join } from "node:path";
import type { Kysely } from "kysely";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import {
  type AsOwner,
  type Database,
  type DatabaseOptions,
  checkServer,
  openDatabase,
  openForMigration,
} from "../database/database.ts";
import type { ConnectionSettings } from "../database/primary-client.ts";
import { type Migrated, migrate } from "../database/migrate.ts";
import { readRole } from "../database/migration/applied.ts";
import { requireKeptStatements } from "../database/kept-statements.ts";
import { isSameDatabase } from "../database/same-database.ts";
import type { Schema } from "../database/schema.ts";
import { requireTableRights } from "../database/table-rights.ts";
import { findRunningServer } from "../database/embedded/find-running-server.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../database/embedded/start-embedded-postgres.ts";
import type { WhenDatabaseAnswers } from "./wait-for-database.ts";

/** An open database, with the functions to migrate and to close it. */
export interface RunningDatabase {
  readonly database: Database;
  /** What its connections are opened with. */
  readonly connection: ConnectionSettings;
  /** The same for what changes the schema, whose role may be another one. */
  readonly ownerConnection: ConnectionSettings;
  /** Migrates the database to the schema of this version. */
  readonly migrate: () => Promise<Migrated>;
  /** Runs something with the role that owns the tables. If that is another one, it has connections of its own meanwhile. */
  readonly asOwner: AsOwner;
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
  const { migrationDatabaseUrl: ownerUrl } = config;
  const ownerConnection = ownerUrl === undefined ? connection : { connectionString: ownerUrl };
  const open = (at: ConnectionSettings, limits: Pick<DatabaseOptions, "maxReadConnections" | "maxWriteConnections">) =>
    openDatabase({
      connection: at,
      acceptsStandby,
      prepareStatements: config.preparedStatements !== "off",
      isPooled: config.preparedStatements !== "on",
      ...limits,
      onConnectionError: (message) => logger.warn({ reason: message }, "a database connection failed"),
    });
  const database = open(connection, {
    maxReadConnections: config.readConnections,
    maxWriteConnections: config.writeConnections,
  });
  const close = async (): Promise<void> => {
    await database.close();
    await embedded?.stop();
  };
  try {
    const check = async (): Promise<string> => {
      const version = await checkServer(database);
      if (config.preparedStatements === "pooled") await requireKeptStatements(database);
      return version;
    };
    const version = await whenAnswers(() =>
      check().catch((cause: unknown) => {
        const isNamed = config.databaseUrl !== undefined;
        throw isNamed ? new Error("Cannot use the database in DATABASE_URL.", { cause }) : cause;
      }),
    );
    logger.info({ version, embedded: config.databaseUrl === undefined }, "connected to PostgreSQL");
    return {
      database,
      connection,
      ownerConnection,
      async migrate() {
        const db = openForMigration(ownerConnection);
        try {
          if (ownerUrl !== undefined) await requireSameDatabase(db, database);
          const migrated = await migrate(db, { logger, signal: stopping });
          if (ownerUrl !== undefined) await requireRightsOfBoth(db, database);
          return migrated;
        } finally {
          await db.destroy();
        }
      },
      async asOwner(run) {
        if (ownerUrl === undefined) return run(database);
        const owner = open(ownerConnection, { maxReadConnections: 1, maxWriteConnections: 1 });
        try {
          await requireSameDatabase(owner.writes, database);
          return await run(owner);
        } finally {
          await owner.close();
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Checks that the role that serves, and the one that owns the tables, can do what they need. */
async function requireRightsOfBoth(owner: Kysely<Schema>, { reads }: Database): Promise<void> {
  await requireTableRights(owner, await readRole(reads), await readRole(owner));
}

/** Checks that both URLs lead to one database: otherwise, one would be migrated that nothing serves. */
async function requireSameDatabase(owner: Kysely<Schema>, { reads }: Database): Promise<void> {
  const isSame = await isSameDatabase(owner, reads).catch((cause: unknown) => {
    throw new Error("Cannot use the database in TENANTRY_MIGRATION_DATABASE_URL.", { cause });
  });
  if (isSame) return;
  throw new Error(
    "TENANTRY_MIGRATION_DATABASE_URL leads to another database or schema than DATABASE_URL: both must name the same one on the same server, the first with the role that owns its tables",
  );
}
