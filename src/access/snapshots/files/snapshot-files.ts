// Snapshots in files, so that a server that starts again need not read large orgs. A file says how the org was at a revision. Loading it
// means finding this revision in the change log, with its token, and applying the entries after it. What is damaged, or was
// written by another version or for another database, is removed. A failure to write is no failure of anything else.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Logger } from "pino";
import { numberOf } from "../../../changes/revision.ts";
import { type Sealer, fileHeaderLength } from "../../../identity/sealer.ts";
import type { OrgSnapshot, OrgSnapshotOptions } from "../../engine/org-snapshot.ts";
import { fileName, listOrgs, makeRoom, removeOthers, touchFiles } from "./file-directory.ts";
import { type FileContext, createFingerprint } from "./fingerprint.ts";
import { UnusableFileError, createBlockWriter, openBlocks } from "./sealed-blocks.ts";
import { readBlocks, writeBlocks } from "./snapshot-blocks.ts";
import { makeDirectory } from "../../../files/make-directory.ts";

export interface SnapshotFiles {
  /** Returns the snapshot in the file of an org; undefined if there is none that can be used. */
  load(orgId: string): Promise<OrgSnapshot | undefined>;
  remove(orgId: string, reason: string): Promise<void>;
  /** Reports whether the snapshot has no file, or has changed so much since that it should be written again. */
  isDue(snapshot: OrgSnapshot, due?: SaveInterval): boolean;
  /** Writes the snapshot to the file of its org, unless `isOver` says to give up. Never fails. */
  save(snapshot: OrgSnapshot, isOver?: () => boolean): Promise<void>;
  orgIds(): Promise<string[]>;
  /** Removes the files of orgs that do not exist, and those that are too many. Those of orgs in use are kept longest. */
  tidy(existing: ReadonlySet<string>, used: ReadonlySet<string>): Promise<void>;
}

export interface SnapshotFilesOptions extends Omit<FileContext, "predefinedRoles">, Omit<OrgSnapshotOptions, "org"> {
  readonly directory: string;
  /** How long a file may take to read, in milliseconds. Default: 10 s. */
  readonly maxLoadMs?: number;
  /** The maximum size of all files together. The least recently used are removed first. 0 for no files. */
  readonly maxBytes: number;
  readonly sealer: Sealer;
  readonly logger: Logger;
}

/** A snapshot is written again after some revisions or, if there is any, after a longer time. */
interface SaveInterval {
  readonly revisions: number;
  readonly afterMs: number;
  readonly anyAfterMs: number;
}

/** Reading so many revisions takes some tens of milliseconds. */
const usual: SaveInterval = { revisions: 1_000, afterMs: 300_000, anyAfterMs: 21_600_000 };

/** A loaded snapshot takes as much memory as one that is read, so that few are loaded at once. */
const maxLoads = 2;

/** The tables are faster than files on a disk that takes so long, and a disk that has fallen silent must keep no call waiting. */
const defaultMaxLoadMs = 10_000;

/** How long files are left alone after one took too long. */
const afterSlowMs = 300_000;

export function createSnapshotFiles(options: SnapshotFilesOptions): SnapshotFiles {
  const { directory, maxBytes, sealer, logger, version, migrations, installation, ...others } = options;
  const { maxLoadMs = defaultMaxLoadMs, ...engine } = others;
  const { predefinedRoles } = engine;
  const fingerprintOf = createFingerprint({ version, migrations, installation, predefinedRoles });
  const limitLoads = pLimit(maxLoads);
  const limitSaves = pLimit(1);
  /** What the file of a snapshot has, as far as this server knows, and when that was loaded or written, or could not be. */
  const saved = new WeakMap<OrgSnapshot, { readonly revision: string | undefined; readonly at: number }>();
  let isFailing = false;
  let leftAloneUntil = Number.NEGATIVE_INFINITY;

  const pathOf = (orgId: string): string => join(directory, fileName(orgId));

  const remove = async (orgId: string, reason: string): Promise<void> => {
    logger.info({ orgId, reason }, "removed the file of an access snapshot");
    await rm(pathOf(orgId), { force: true }).catch((err: unknown) => warn(err));
  };

  /** Logs the first of several failures. */
  const warn = (err: unknown): void => {
    if (!isFailing) logger.warn({ err, directory }, "failed to keep access snapshots in files");
    isFailing = true;
  };

  const read = async (orgId: string): Promise<OrgSnapshot | undefined> => {
    const handle = await openOwn(pathOf(orgId));
    if (handle === undefined) return undefined;
    try {
      await requireOwn(handle);
      const header = Buffer.alloc(fileHeaderLength);
      await handle.read(header, 0, header.length, 0);
      const key = sealer.findFileKey("access snapshot", header);
      if (key === undefined) throw new UnusableFileError("the file is not sealed with a key of this installation");
      const blocks = await openBlocks(handle, key, header.length);
      const snapshot = await readBlocks(orgId, fingerprintOf, blocks, engine);
      saved.set(snapshot, { revision: snapshot.revision, at: performance.now() });
      // When it was used last decides how long it is kept.
      await handle.utimes(new Date(), new Date()).catch(() => {});
      return snapshot;
    } finally {
      await handle.close();
    }
  };

  const write = async (snapshot: OrgSnapshot, isOver: () => boolean): Promise<string | undefined> => {
    const { id } = snapshot.org;
    await makeDirectory(directory, 0o700);
    await requireOwnDirectory(directory);
    if (!(await makeRoom(directory, maxBytes - snapshot.bytes, fileName(id)))) return undefined;
    const draft = join(directory, `${fileName(id)}.${randomUUID()}.draft`);
    let isWritten = false;
    const handle = await open(draft, "wx", 0o600);
    try {
      const writer = createBlockWriter(handle, sealer.createFileKey("access snapshot"));
      const revision = await writeBlocks(snapshot, fingerprintOf(snapshot), writer, isOver);
      if (revision === undefined) return undefined;
      await handle.sync();
      isWritten = true;
      return revision;
    } finally {
      await handle.close();
      await (isWritten ? rename(draft, pathOf(id)) : rm(draft, { force: true }));
    }
  };

  return {
    remove,
    orgIds: () =>
      listOrgs(directory).catch((error: unknown) => {
        warn(error);
        return [];
      }),

    async tidy(existing, used) {
      try {
        await removeOthers(directory, existing);
        await touchFiles(directory, used);
        await makeRoom(directory, maxBytes);
      } catch (error) {
        warn(error);
      }
    },

    load: (orgId) =>
      limitLoads(async () => {
        if (maxBytes === 0 || performance.now() < leftAloneUntil) return undefined;
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<undefined>((resolve) => {
          timer = setTimeout(() => {
            leftAloneUntil = performance.now() + afterSlowMs;
            warn(new Error(`a file took longer than ${maxLoadMs} ms to read`));
            resolve(undefined);
          }, maxLoadMs);
        });
        try {
          return await Promise.race([read(orgId), late]);
        } catch (error) {
          if (isOfSystem(error)) warn(error);
          else await remove(orgId, error instanceof Error ? error.message : "it cannot be read");
          return undefined;
        } finally {
          clearTimeout(timer);
        }
      }),

    isDue(snapshot, { revisions, afterMs, anyAfterMs } = usual) {
      if (maxBytes === 0) return false;
      const last = saved.get(snapshot);
      if (last === undefined) return true;
      if (last.revision === snapshot.revision) return false;
      const ms = performance.now() - last.at;
      if (last.revision === undefined) return ms >= afterMs;
      const behind = numberOf(snapshot.revision) - numberOf(last.revision);
      return ms >= anyAfterMs || (ms >= afterMs && behind >= revisions);
    },

    save: (snapshot, isOver = () => false) =>
      limitSaves(async () => {
        let { revision } = saved.get(snapshot) ?? { revision: undefined };
        try {
          revision = (await write(snapshot, isOver)) ?? revision;
          isFailing = false;
        } catch (error) {
          warn(error);
        }
        saved.set(snapshot, { revision, at: performance.now() });
      }),
  };
}

/** Opens a file without following a link or waiting for the other end of a pipe. Returns undefined if there is none. */
async function openOwn(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ELOOP") throw new UnusableFileError("the file is a link", { cause: error });
    throw error;
  }
}

/** Whether the operating system refuses something, which says nothing about the file. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

async function requireOwn(handle: FileHandle): Promise<void> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new UnusableFileError("it is not a file");
  if (stats.uid !== process.geteuid?.()) throw new UnusableFileError("the file belongs to another user");
}

async function requireOwnDirectory(directory: string): Promise<void> {
  const stats = await lstat(directory);
  if (!stats.isDirectory() || stats.uid !== process.geteuid?.())
    throw new Error(`${directory} is not a directory of this user`);
}
