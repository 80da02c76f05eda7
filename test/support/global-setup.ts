// One PostgreSQL server for all tests: the one that TEST_DATABASE_URL names, or an embedded one of their own. Each test
// file copies a migrated database.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../src/database/database.ts";
import { startEmbeddedPostgres } from "../../src/database/embedded/start-embedded-postgres.ts";
import { migrate } from "../../src/database/migrate.ts";
import { databaseUrl, templateDatabase } from "./database-url.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the server's own database; `databaseUrl` makes those of others. */
    serverUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const named = process.env["TEST_DATABASE_URL"];
  const server = named === undefined ? await startOwnServer() : { url: named, stop: () => Promise.resolve() };
  await createTemplate(server.url);
  project.provide("serverUrl", server.url);
  return async () => {
    await dropTemplate(server.url);
    await server.stop();
  };
}

async function startOwnServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-test-"));
  const server = await startEmbeddedPostgres({
    directory,
    // The data is thrown away, so it need not survive a power cut.
    settings: { fsync: "off", full_page_writes: "off", synchronous_commit: "off", max_connections: "300" },
    log: (level, message) => level === "error" && console.error(message),
  });
  const { host, port, user, database } = server.connection;
  return {
    url: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    stop: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
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
