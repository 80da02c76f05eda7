// Measures a snapshot in a file: for `access-engine.ts`.
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import pino from "pino";
import type { OrgSnapshot, OrgSnapshotOptions } from "../src/access/engine/org-snapshot.ts";
import { createSnapshotFiles } from "../src/access/snapshots/files/snapshot-files.ts";
import { createSealer } from "../src/identity/sealer.ts";

interface FileFigures {
  readonly bytes: number;
  readonly saving: Figures;
  readonly loading: Figures;
}

interface Figures {
  readonly ms: number;
  /** The time of the processor, on all threads. */
  readonly cpuMs: number;
  /** How long other work on the event loop waited at most. */
  readonly longestMs: number;
}

/** Returns lines of a table with a column for each snapshot. */
export async function describeFiles(
  snapshots: readonly OrgSnapshot[],
  engine: Omit<OrgSnapshotOptions, "org">,
): Promise<readonly (readonly [name: string, cells: readonly string[]])[]> {
  const measured: FileFigures[] = [];
  for (const snapshot of snapshots) measured.push(await measureFile(snapshot, engine));
  const timesOf = ({ ms, cpuMs, longestMs }: Figures): string =>
    `${ms.toFixed(0)} ${cpuMs.toFixed(0)} ${longestMs.toFixed(0)}`;
  return [
    ["megabytes of its file", measured.map(({ bytes }) => (bytes / 1e6).toFixed(1))],
    ["saving it, ms: all, of the processor, longest turn", measured.map(({ saving }) => timesOf(saving))],
    ["loading it, ms: all, of the processor, longest turn", measured.map(({ loading }) => timesOf(loading))],
  ];
}

/** Writes the snapshot to a file and reads it again. */
async function measureFile(snapshot: OrgSnapshot, engine: Omit<OrgSnapshotOptions, "org">): Promise<FileFigures> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-bench-"));
  const files = createSnapshotFiles({
    ...engine,
    directory,
    maxBytes: Infinity,
    sealer: createSealer([randomBytes(32)]),
    version: "",
    migrations: [],
    installation: "",
    logger: pino({ level: "warn" }),
  });
  try {
    const saving = await measure(() => files.save(snapshot));
    const [file = ""] = await readdir(directory);
    const { size } = await stat(join(directory, file));
    const loading = await measure(async () => {
      if ((await files.load(snapshot.org.id)) === undefined) throw new Error("the file was not loaded");
    });
    return { bytes: size, saving, loading };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function measure(run: () => Promise<void>): Promise<Figures> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
  await run();
  const [ms, { user, system }] = [performance.now() - startedAt, process.cpuUsage(cpuBefore)];
  delay.disable();
  return { ms, cpuMs: (user + system) / 1000, longestMs: delay.max / 1e6 };
}
