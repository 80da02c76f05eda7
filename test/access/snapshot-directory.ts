// A directory for snapshots in files, and servers that use it.
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import pino from "pino";
import { onTestFinished } from "vitest";
import type { OrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { createSnapshots } from "../../src/access/snapshots/current-snapshots.ts";
import {
  type SnapshotFiles,
  type SnapshotFilesOptions,
  createSnapshotFiles,
} from "../../src/access/snapshots/files/snapshot-files.ts";
import type { Database } from "../../src/database/database.ts";
import { createSealer } from "../../src/identity/sealer.ts";

export const engine = {
  predefinedRoles: {
    admin: { permissions: "*" },
    viewer: { permissions: ["iam.projects.get"] },
  },
  compileCondition: () => () => true,
} as const;

/** The secret key of the servers. */
export const key = randomBytes(32);

export interface SnapshotDirectory {
  readonly path: string;
  /** What the files that were opened have logged. */
  readonly logLines: string[];
  /** Opens the files as a server does that starts. */
  openFiles(changed?: Partial<SnapshotFilesOptions>): SnapshotFiles;
  fileNames(): Promise<string[]>;
}

/** Creates a directory for a single test. */
export async function createSnapshotDirectory(): Promise<SnapshotDirectory> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-files-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const logLines: string[] = [];
  return {
    path: directory,
    logLines,
    openFiles(changed = {}) {
      const logger = pino({ level: "info" }, { write: (line: string) => void logLines.push(line) });
      const sealer = createSealer([key]);
      const common = {
        directory,
        maxBytes: 1e9,
        sealer,
        version: "1",
        migrations: ["0001"],
        installation: "here",
        logger,
      };
      return createSnapshotFiles({ ...engine, ...common, ...changed });
    },
    fileNames: async () => (await readdir(directory)).toSorted(),
  };
}

/** Starts what a server has: nothing in memory, and the files. */
export function startSnapshots(database: Database, files: SnapshotFiles) {
  const loaded: OrgSnapshot[] = [];
  const load = async (orgId: string) => {
    const found = await files.load(orgId);
    if (found !== undefined) loaded.push(found);
    return found;
  };
  const snapshots = createSnapshots({
    ...engine,
    database,
    readConnections: 4,
    maxBytes: Infinity,
    files: { ...files, load },
  });
  return {
    snapshots,
    files,
    /** Returns the snapshot for a question that arrives now, and whether it comes from a file. */
    async ask(orgId: string) {
      const readAt = performance.now();
      const { rows } = await sql<{ revision: string }>`select revision from orgs where id = ${orgId}`.execute(
        database.reads,
      );
      const snapshot = await snapshots.at(orgId, { revision: rows[0]?.revision ?? "", readAt });
      return { snapshot, isFromFile: loaded.includes(snapshot) };
    },
  };
}
