// Files that only their owner can read and change, because they have secrets.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { makeDirectory } from "../../../files/make-directory.ts";
import { CommandError, exitCodes } from "../command-error.ts";

const maxBytes = 1_048_576;

/**
 * Returns the text of a private file; undefined if there is none.
 *
 * @throws CommandError if somebody else could read or change it, or if it is a link.
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    if (error.code === "ELOOP") throw unsafe(`${path} is a link: it must be a file`, `rm ${path}`);
    throw unsafe(`${path} cannot be read: ${error.code ?? error.message}`, undefined);
  });
  if (file === undefined) return undefined;
  try {
    const { mode, uid, size } = await file.stat();
    if (process.getuid !== undefined && uid !== process.getuid()) {
      throw unsafe(`${path} belongs to another user`, undefined);
    }
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, "0");
      throw unsafe(`${path} can be read or changed by others (its mode is ${shown})`, `chmod 600 ${path}`);
    }
    if (size > maxBytes) throw unsafe(`${path} is larger than a megabyte`, undefined);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Makes a directory of mode 0700, and those above it that are missing. @throws CommandError if that is not possible. */
export async function makePrivateDirectory(directory: string): Promise<void> {
  try {
    await makeDirectory(directory, 0o700);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw unsafe(`${directory} cannot be created: ${why}`, "XDG_CONFIG_HOME names another place for profiles");
  }
}

/** Writes a file of mode 0600, whole or not at all. Its directory is created with mode 0700. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await makePrivateDirectory(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw unsafe(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code ?? String(error)}`, undefined);
  }
}

const lockWaitMs = 30_000;

/**
 * Runs a function while no other process does with the same file. The lock of a process that was killed is taken over. When two take over
 * the same one at once both may run: the service gives them the same tokens then, as it does to a client that repeats a refresh.
 */
export async function whileLocked<T>(path: string, run: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  await makePrivateDirectory(dirname(path));
  const deadline = performance.now() + lockWaitMs;
  for (;;) {
    const file = await open(lock, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return undefined;
      throw unsafe(`${lock} cannot be created: ${error.code ?? error.message}`, undefined);
    });
    if (file !== undefined) {
      try {
        await file.writeFile(String(process.pid));
        await file.close();
        return await run();
      } finally {
        await rm(lock, { force: true });
      }
    }
    if (await isAbandoned(lock)) await rm(lock, { force: true });
    else if (performance.now() > deadline) {
      throw unsafe(`another tenantry uses ${path} for more than 30 seconds`, `rm ${lock}, if none runs`);
    } else await wait(20);
  }
}

/** Reports whether the process that has created a lock is gone. One that has not written its id yet is not. */
async function isAbandoned(lock: string): Promise<boolean> {
  const text = await readPrivateFile(lock);
  const pid = Number(text);
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function unsafe(message: string, next: string | undefined): CommandError {
  return new CommandError(message, { exitCode: exitCodes.denied, reason: "CREDENTIAL_FILE", next });
}
