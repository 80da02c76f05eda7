// A dump of the service, restored into a PostgreSQL on a small disk, with a server of its own.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createApi } from "../../test/support/api.ts";
import { type DebianPostgres, startDebianPostgres } from "../../test/support/debian-postgres.ts";
import { expectNoDrift } from "../../test/support/expect-no-drift.ts";
import { type SmallDisk, mountSmallDisk } from "../../test/support/small-disk.ts";
import { writeUntilFull } from "../../test/support/write-until-full.ts";
import type { Findings } from "../chaos/findings.ts";
import { createLatencies } from "../chaos/latencies.ts";
import { startLoad } from "../chaos/load.ts";
import { createOwnedOrg } from "../chaos/orgs.ts";
import { type Workplace, killTree, makeFolder } from "../chaos/processes.ts";
import { type Server, root, secretKeysOf } from "../chaos/servers.ts";
import { readServerFile, removeSharedMemory, sharedMemoryOf } from "../chaos/shared-memory.ts";
import { verify } from "../chaos/verify.ts";

const run = promisify(execFile);

export interface RestoredCopy {
  readonly postgres: DebianPostgres;
  readonly disk: SmallDisk;
}

/** Dumps a database while servers go on, and restores it. Undefined where no disk can be mounted. */
export async function restoreCopy(
  workplace: Workplace,
  databaseUrl: string,
  logLines: number,
): Promise<RestoredCopy | undefined> {
  // With what PostgreSQL sorts while it builds the indexes.
  const disk = mountSmallDisk(400 + Math.ceil(logLines / 400));
  if (disk === undefined) return undefined;
  workplace.onClose(() => disk.remove());
  const folder = join(disk.folder, "postgres");
  const postgres = await startDebianPostgres(folder, [
    "max_wal_size=64MB",
    "min_wal_size=64MB",
    "log_min_messages=panic",
  ]);
  workplace.onClose(() => {
    const segment = sharedMemoryOf(folder);
    killTree(Number(readServerFile(folder)[0]) || undefined);
    removeSharedMemory(segment);
  });
  const file = join(workplace.directory, "week.dump");
  const data = makeFolder(join(workplace.directory, "dump"), undefined);
  const command = (url: string, ...args: readonly string[]) =>
    run(process.execPath, [join(root, "bin/tenantry.js"), ...args], {
      env: {
        PATH: process.env["PATH"],
        DATABASE_URL: url,
        TENANTRY_DATA: data,
        TENANTRY_SECRET_KEYS_FILE: secretKeysOf(workplace),
      },
    });
  console.log((await command(databaseUrl, "dump", file)).stdout.trim());
  console.log((await command(postgres.url(), "restore", file)).stdout.trim());
  await expectNoDrift(postgres.url());
  return { postgres, disk };
}

/**
 * Fills the disk of the copy while callers write to its server, and makes room again. Returns what checks later that nothing is lost, which
 * keeps the machine too busy for a step.
 */
export async function fillDisk(
  { postgres, disk }: RestoredCopy,
  server: Server,
  operatorKey: string,
  seed: number,
  findings: Findings,
): Promise<() => Promise<void>> {
  const operator = createApi("Connect", server.url, operatorKey);
  const orgs = [await createOwnedOrg(operator, "on-a-small-disk", 2)];
  const load = startLoad({ url: server.url, servers: [], orgs, seed, latencies: createLatencies(), findings });
  const { path } = await operator.orgs.createOrg({ org: { name: "filling" } });
  // A log that finds no room ends the server of the database, so it has all of a file left.
  await postgres.query("select pg_switch_wal()");
  await postgres.query("checkpoint");
  disk.fill();
  const { made, failure } = await writeUntilFull(operator, path);
  console.log(`after ${made.length} more members, the answer was ${failure.code}: ${failure.message}`);
  await operator.orgs.getOrg({ path });
  disk.makeRoom();
  const startedAt = Date.now();
  await operator.members.createMember({ parentPath: path, member: { name: "later" } });
  console.log(`with room, a write took ${Date.now() - startedAt} ms`);
  await load.stop();
  console.log("failures of callers on the small disk:", Object.fromEntries(load.failures));
  const { histories } = load;
  return () => verify({ urls: [server.url], orgs, histories, databaseUrl: postgres.url(), findings });
}
