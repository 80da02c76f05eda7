import { join } from "node:path";
import type { Logger } from "pino";
import packageJson from "../../package.json" with { type: "json" };
import type { OrgSnapshotOptions } from "../access/engine/org-snapshot.ts";
import { type Snapshots, createSnapshots } from "../access/snapshots/current-snapshots.ts";
import { createSnapshotFiles } from "../access/snapshots/files/snapshot-files.ts";
import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import { migrationNames } from "../database/migrations/all.ts";
import type { Installation } from "../identity/installation.ts";
import type { Sealer } from "../identity/sealer.ts";
import { createSnapshotFilesJob } from "../jobs/snapshot-files-job.ts";
import type { RunningJob } from "../timers/runs.ts";

interface SnapshotDependencies {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly installation: Installation;
  readonly logger: Logger;
}

interface RunningSnapshots {
  readonly snapshots: Snapshots;
  /** Keeps the large ones in files. */
  readonly job: RunningJob;
}

const intervalMs = 10_000;
/** How long files may be written when the server ends. */
const closeMs = 3_000;

export function snapshotDirectory(dataDirectory: string): string {
  return join(dataDirectory, "access-snapshots");
}

export function startSnapshots(
  settings: Pick<Config, "dataDirectory" | "readConnections" | "accessMemoryBytes" | "accessDiskBytes">,
  { database, sealer, installation, logger }: SnapshotDependencies,
  engine: Omit<OrgSnapshotOptions, "org">,
): RunningSnapshots {
  const { dataDirectory, readConnections, accessMemoryBytes, accessDiskBytes } = settings;
  const files = createSnapshotFiles({
    ...engine,
    directory: snapshotDirectory(dataDirectory),
    maxBytes: accessDiskBytes,
    sealer,
    version: packageJson.version,
    migrations: migrationNames,
    installation: `${installation.systemOrgId} ${installation.pageTokenKey.toString("base64")}`,
    logger,
  });
  const snapshots = createSnapshots({ ...engine, database, readConnections, maxBytes: accessMemoryBytes, files });
  database.commits.subscribe(
    (committed) => snapshots.follow(committed),
    (err) => logger.error({ err }, "failed to follow a commit of this server"),
  );
  const job = createSnapshotFilesJob({ database, snapshots, files, intervalMs, closeMs, logger });
  return { snapshots, job: { name: "snapshot-files", ...job } };
}
