import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { startEmbeddedPostgres } from "../../src/database/embedded/start-embedded-postgres.ts";
import { copyCluster } from "./copy-cluster.ts";

export interface KillableDatabase {
  readonly url: string;
  readonly kill: () => Promise<void>;
}

/** Starts a database that is restarted when it is killed, until the test has finished. */
export async function startKillableDatabase(directory: string): Promise<KillableDatabase> {
  const cluster = inject("migratedCluster");
  if (cluster !== "") await copyCluster(cluster, directory);
  const postgres = await startEmbeddedPostgres({ directory, settings: { fsync: "off" }, log: () => {} });
  onTestFinished(() => postgres.stop());
  const { host, port, user, database } = postgres.connection;
  return {
    url: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    async kill() {
      const [pid] = (await readFile(join(directory, "cluster/postmaster.pid"), "utf8")).split("\n");
      process.kill(Number(pid), "SIGKILL");
    },
  };
}
