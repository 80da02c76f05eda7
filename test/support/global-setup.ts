// Starts the PostgreSQL server of all tests, unless TEST_DATABASE_URL names one. Its databases are copies of a migrated one.
// Tests that start their own embedded server copy a cluster with such a database, because initdb and migrations take longer.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { openForMigration } from "../../src/database/database.ts";
import { startEmbeddedPostgres } from "../../src/database/embedded/start-embedded-postgres.ts";
import { migrate } from "../../src/database/migrate.ts";
import { bundleCommandLine } from "../../scripts/build/bundle-command-line.ts";
import { bundleService } from "../../scripts/build/bundle-service.ts";
import { copyCluster } from "./copy-cluster.ts";
import { databaseUrl, templateDatabase } from "./database-url.ts";
import { memoryDirectory } from "./memory-directory.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the maintenance database; `databaseUrl` returns the URLs of others. */
    serverUrl: string;
    /**
     * The directory of a cluster to copy, whose database is migrated and otherwise empty. An empty text if TEST_DATABASE_URL is
     * set, because few tests start their own server then.
     */
    migratedCluster: string;
    /** How the names of the databases of this run begin. */
    databasePrefix: string;
    /** The directory of Node's compile cache for the commands that tests run. */
    compileCache: string;
  }
}

export default async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  // The workers inherit this variable.
  process.env["TMPDIR"] ??= memoryDirectory() ?? tmpdir();
  // The commands that tests run start from it.
  await bundleService(join(import.meta.dirname, "../.."));
  await bundleCommandLine(join(import.meta.dirname, "../.."));
  const named = process.env["TEST_DATABASE_URL"];
  const directory = await mkdtemp(join(tmpdir(), "tenantry-test-"));
  const migratedCluster = named === undefined ? await makeMigratedCluster(join(directory, "migrated")) : "";
  const server =
    named === undefined
      ? await startOwnServer(join(directory, "server"), migratedCluster)
      : { url: named, stop: () => Promise.resolve() };
  const databasePrefix = `test_${randomBytes(4).toString("hex")}_`;
  await createTemplate(server.url, named === undefined ? "tenantry" : "template1");
  project.provide("serverUrl", server.url);
  project.provide("migratedCluster", migratedCluster);
  project.provide("databasePrefix", databasePrefix);
  project.provide("compileCache", join(directory, "compile-cache"));
  return async () => {
    await dropTemplate(server.url);
    // Those of the shared servers, which end with their workers.
    if (named !== undefined) await dropDatabases(named, databasePrefix);
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

/** Creates a cluster and migrates its database like the service does, and stops its server. Returns the cluster's directory. */
async function makeMigratedCluster(directory: string): Promise<string> {
  const server = await startEmbeddedPostgres({ directory, settings: { fsync: "off" }, log: () => {} });
  const db = openForMigration(server.connection);
  await migrate(db);
  await db.destroy();
  await server.stop();
  return join(directory, "cluster");
}

async function startOwnServer(
  directory: string,
  migratedCluster: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  await copyCluster(migratedCluster, directory);
  const server = await startEmbeddedPostgres({
    directory,
    // The data is temporary, so it need not survive a power failure.
    settings: { fsync: "off", full_page_writes: "off", synchronous_commit: "off", max_connections: "300" },
    log: (level, message) => level === "error" && console.error(message),
  });
  const { host, port, user } = server.connection;
  return {
    url: `postgres://${user}@localhost:${port}/postgres?host=${encodeURIComponent(host)}`,
    stop: () => server.stop(),
  };
}

/** @param from the database to copy; it need not be migrated. */
async function createTemplate(url: string, from: string): Promise<void> {
  await dropTemplate(url);
  await administer(url, `create database ${templateDatabase} template ${from}`);
  const db = openForMigration({ connectionString: databaseUrl(url, templateDatabase) });
  await migrate(db);
  await db.destroy();
}

function dropTemplate(url: string): Promise<void> {
  return administer(url, `drop database if exists ${templateDatabase} with (force)`);
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ datname: string }>(
    "select datname from pg_database where starts_with(datname, $1)",
    [prefix],
  );
  for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`);
  await client.end();
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
