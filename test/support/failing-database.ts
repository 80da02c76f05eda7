// A database that fails over to a physical copy of an earlier state.
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { startEmbeddedPostgres } from "../../src/database/embedded/start-embedded-postgres.ts";
import { copyCluster } from "./copy-cluster.ts";

/** A database, migrated or not, that can be set back to an earlier state. */
export interface FailingDatabase {
  readonly url: string;
  /** Copies the database. */
  copy(): Promise<void>;
  /** Kills the database, and promotes the copy in its place. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFailingDatabase(): Promise<FailingDatabase> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-failover-"));
  const migrated = inject("migratedCluster");
  if (migrated !== "") await copyCluster(migrated, join(directory, "postgres"));
  const cluster = join(directory, "postgres", "cluster");
  const start = () =>
    startEmbeddedPostgres({ directory: join(directory, "postgres"), settings: { fsync: "off" }, log: () => {} });
  let postgres = await start();
  const { host, port, user, database } = postgres.connection;
  const url = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  return {
    url,
    async copy() {
      await postgres.stop();
      await copyCluster(cluster, join(directory, "copy"));
      postgres = await start();
    },
    async failOver() {
      await postgres.stop();
      await rm(cluster, { recursive: true });
      await rename(join(directory, "copy", "cluster"), cluster);
      await writeFile(join(cluster, "standby.signal"), "");
      postgres = await start();
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query("select pg_promote()");
      await client.end();
    },
    async stop() {
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
