// The directory of the files. Several servers may use it: a file appears when it is complete, and any of them may remove it.
import { lstat, readdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";

interface FoundFile {
  readonly path: string;
  readonly orgId: string;
  /** Whether it is being written, or was when its server ended. */
  readonly isDraft: boolean;
  readonly size: number;
  /** When the file was written or used last, by the clock of the file system. */
  readonly usedAt: number;
}

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const namePattern = new RegExp(`^(${uuid})\\.snapshot(\\.${uuid}\\.draft)?$`);

/** What has not been written to for so long is not being written any more. */
const draftMs = 600_000;

/** The time of use is written so rarely. */
const touchMs = 3_600_000;

export function fileName(orgId: string): string {
  return `${orgId}.snapshot`;
}

/** Returns the files of snapshots; none if there is no directory. */
async function listFiles(directory: string): Promise<FoundFile[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const found = await Promise.all(
    names.map(async (name): Promise<FoundFile[]> => {
      const [, orgId, draft] = namePattern.exec(name) ?? [];
      if (orgId === undefined) return [];
      const path = join(directory, name);
      // Another server may have removed it.
      const stats = await lstat(path).catch(() => undefined);
      if (stats === undefined) return [];
      return [{ path, orgId, isDraft: draft !== undefined, size: stats.size, usedAt: stats.mtimeMs }];
    }),
  );
  return found.flat();
}

export async function listOrgs(directory: string): Promise<string[]> {
  return [...new Set((await listFiles(directory)).map(({ orgId }) => orgId))];
}

/**
 * Removes the least recently used files until the others take at most `maxBytes`.
 *
 * @param except the name of a file that is not counted, since it is about to be replaced.
 * @returns false if no file would fit.
 */
export async function makeRoom(directory: string, maxBytes: number, except?: string): Promise<boolean> {
  if (maxBytes < 0) return false;
  const files = (await listFiles(directory)).filter(
    ({ path }) => except === undefined || path !== join(directory, except),
  );
  let total = files.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size } of files.toSorted((one, other) => one.usedAt - other.usedAt)) {
    if (total <= maxBytes) break;
    await rm(path, { force: true });
    total -= size;
  }
  return true;
}

/** Removes the files of other orgs than these, and drafts that nobody completes. */
export async function removeOthers(directory: string, orgIds: ReadonlySet<string>): Promise<void> {
  const oldest = Date.now() - draftMs;
  for (const { path, orgId, isDraft, usedAt } of await listFiles(directory)) {
    if (!orgIds.has(orgId) || (isDraft && usedAt < oldest)) await rm(path, { force: true });
  }
}

/** Notes that these orgs are in use, so that their files are kept longest. */
export async function touchFiles(directory: string, orgIds: ReadonlySet<string>): Promise<void> {
  const now = new Date();
  for (const { path, orgId, isDraft, usedAt } of await listFiles(directory)) {
    if (isDraft || !orgIds.has(orgId) || usedAt > now.getTime() - touchMs) continue;
    await utimes(path, now, now).catch(() => {});
  }
}
