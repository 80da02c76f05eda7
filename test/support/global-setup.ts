// Starts the PostgreSQL server of all tests, unless TEST_DATABASE_URL names one. Each test file copies a migrated database.
// Tests that start their own embedded server copy an empty cluster, because initdb takes longer than a copy.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../src/database/database.ts";
import { startEmbeddedPostgres } from "../../src/database/embedded/start-embedded-postgres.ts";
import { migrate } from "../../src/database/migrate.ts";
import { copyCluster } from "./copy-cluster.ts";
import { databaseUrl, templateDatabase } from "./database-url.ts";
import { memoryDirectory } from "./memory-directory.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the maintenance database; `databaseUrl` returns the URLs of others. */
    serverUrl: string;
    /**
     * The directory of an empty cluster to copy. Empty if TEST_DATABASE_URL is set, because few tests start their own server
     * then.
     */
    emptyCluster: string;
    /** The directory of Node's compile cache for the commands that tests run. */
    compileCache: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The workers inherit this variable.
  process.env["TMPDIR"] ??= memoryDirectory() ?? tmpdir();
  const named = process.env["TEST_DATABASE_URL"];
  const directory = await mkdtemp(join(tmpdir(), "tenantry-test-"));
  const emptyCluster = named === undefined ? await makeEmptyCluster(join(directory, "empty")) : "";
  const server =
    named === undefined
      ? await startOwnServer(join(directory, "server"), emptyCluster)
      : { url: named, stop: () => Promise.resolve() };
  await createTemplate(server.url);
  project.provide("serverUrl", server.url);
  project.provide("emptyCluster", emptyCluster);
  project.provide("compileCache", join(directory, "compile-cache"));
  return async () => {
    await dropTemplate(server.url);
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

/** Creates a cluster like the service does, and stops its server. Returns the directory of the cluster. */
async function makeEmptyCluster(directory: string): Promise<string> {
  const server = await startEmbeddedPostgres({ directory, settings: { fsync: "off" }, log: () => {} });
  await server.stop();
  return join(directory, "cluster");
}

async function startOwnServer(
  directory: string,
  emptyCluster: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  await copyCluster(emptyCluster, directory);
  const server = await startEmbeddedPostgres({
    directory,
    // The data is temporary, so it need not survive a power failure.
    settings: { fsync: "off", full_page_writes: "off", synchronous_commit: "off", max_connections: "300" },
    log: (level, message) => level === "error" && console.error(message),
  });
  const { host, port, user, database } = server.connection;
  return {
    url: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    stop: () => server.stop(),
  };
}

async function createTemplate(url: string): Promise<void> {
  await dropTemplate(url);
  await administer(url, `create database ${templateDatabase}`);
  const database = openDatabase({
    connection: { connectionString: databaseUrl(url, templateDatabase) },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  await migrate(database.writes);
  await database.close();
}

function dropTemplate(url: string): Promise<void> {
  return administer(url, `drop database if exists ${templateDatabase} with (force)`);
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
