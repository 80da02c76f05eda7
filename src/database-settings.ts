// The settings of the database and its connections.
import { ConfigError } from "./read-settings.ts";
import { databaseUrl, integer, oneOf } from "./setting-types.ts";

export const databaseSettings = {
  DATABASE_URL: databaseUrl({
    default: undefined,
    desc: "PostgreSQL 15 or newer, as postgres://user:password@host:5432/database?sslmode=verify-full, with several hosts where there are standbys. If unset, the service runs an embedded PostgreSQL in the data directory.",
  }),
  TENANTRY_MIGRATION_DATABASE_URL: databaseUrl({
    default: undefined,
    desc: "The same database as DATABASE_URL, with the role that owns its tables and changes the schema, and past a pooler. If unset, the role of DATABASE_URL does.",
  }),
  TENANTRY_PREPARED_STATEMENTS: oneOf(["on", "pooled", "off"], {
    default: "on",
    desc: "Whether database connections keep statements that return: on; pooled, for a pooler that gives each transaction any connection and knows prepared statements; or off, for one that does not.",
  }),
  TENANTRY_READ_CONNECTIONS: integer(1, 1_000, { default: 4, desc: "Database connections for reads." }),
  TENANTRY_WRITE_CONNECTIONS: integer(1, 1_000, { default: 10, desc: "Database connections for writes." }),
};

export interface DatabaseConfig {
  /** Undefined for the embedded database. */
  readonly databaseUrl: string | undefined;
  /** Undefined if the role of `databaseUrl` owns the tables, or somebody else migrates. */
  readonly migrationDatabaseUrl: string | undefined;
  readonly preparedStatements: "on" | "pooled" | "off";
  readonly readConnections: number;
  readonly writeConnections: number;
}

interface DatabaseEnvironment {
  readonly DATABASE_URL: string | undefined;
  readonly TENANTRY_MIGRATION_DATABASE_URL: string | undefined;
  readonly TENANTRY_PREPARED_STATEMENTS: DatabaseConfig["preparedStatements"];
  readonly TENANTRY_READ_CONNECTIONS: number;
  readonly TENANTRY_WRITE_CONNECTIONS: number;
}

/** @throws ConfigError when only the role that migrates has a database. */
export function readDatabaseConfig(env: DatabaseEnvironment): DatabaseConfig {
  if (env.TENANTRY_MIGRATION_DATABASE_URL !== undefined && env.DATABASE_URL === undefined) {
    throw new ConfigError(
      "DATABASE_URL must be set with TENANTRY_MIGRATION_DATABASE_URL: the same database, with the role that serves",
    );
  }
  return {
    databaseUrl: env.DATABASE_URL,
    migrationDatabaseUrl: env.TENANTRY_MIGRATION_DATABASE_URL,
    preparedStatements: env.TENANTRY_PREPARED_STATEMENTS,
    readConnections: env.TENANTRY_READ_CONNECTIONS,
    writeConnections: env.TENANTRY_WRITE_CONNECTIONS,
  };
}
