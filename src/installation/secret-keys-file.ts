// The keys that encrypt secrets in the database: 32 random bytes in base64 on each line of a file. The first line encrypts; all
// decrypt, so that a key can be replaced by adding a line on top.
import { randomBytes } from "node:crypto";
import { open, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSealer, secretKeyLength } from "../identity/sealer.ts";
import { makeDirectory } from "../files/make-directory.ts";

type SecretKeys = readonly [Buffer, ...Buffer[]];

export interface SecretKeysFile {
  readonly file: string;
  readonly keys: SecretKeys;
  /** Whether the file is in the data directory because the settings name none. */
  readonly isDefault: boolean;
}

/**
 * Reads the keys from the file that the settings name. Without one, reads `secret-keys` in the data directory, and creates it
 * with a new key that only its owner can read.
 *
 * @throws Error that names the file and what to change in it. It does not repeat what the file contains.
 */
export async function readSecretKeys(dataDirectory: string, given: string | undefined): Promise<SecretKeysFile> {
  const file = secretKeysFileOf(dataDirectory, given);
  const isDefault = given === undefined;
  if (isDefault) await createFile(file);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new Error(`the file with the secret keys, ${file}, cannot be read`, { cause });
  }
  return { file, keys: parseSecretKeys(text, file), isDefault };
}

/**
 * Returns the file of the keys if it has a key with this id; undefined if not, or if it cannot be read. Creates none.
 *
 * @param id one of `keyIds` of a sealer.
 */
export async function findSecretKeyFile(
  dataDirectory: string,
  given: string | undefined,
  id: string,
): Promise<string | undefined> {
  const file = secretKeysFileOf(dataDirectory, given);
  try {
    return createSealer(parseSecretKeys(await readFile(file, "utf8"), file)).keyIds.includes(id) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the path of the file with the keys. */
export function secretKeysFileOf(dataDirectory: string, given: string | undefined): string {
  return given ?? join(dataDirectory, "secret-keys");
}

/** Returns the ids of the keys in a file; none if there is no file. @throws Error if it is wrong. */
export async function findSecretKeyIds(file: string): Promise<readonly string[]> {
  let text;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Error(`the file with the secret keys, ${file}, cannot be read`, { cause: error });
  }
  return createSealer(parseSecretKeys(text, file)).keyIds;
}

/**
 * Returns the text of the file with the keys, for an encrypted dump.
 *
 * @param ids of the keys that it must have.
 * @throws Error if it cannot be read or lacks one.
 */
export async function readFileOfKeys(
  dataDirectory: string,
  given: string | undefined,
  ids: readonly string[],
): Promise<string | undefined> {
  const file = secretKeysFileOf(dataDirectory, given);
  const found = await findSecretKeyIds(file);
  const missing = ids.filter((id) => !found.includes(id));
  if (missing.length > 0) {
    throw new Error(
      `the secret key ${missing.join(", ")}, with which something in the database is encrypted, is not in ${file}: run this where the servers have it, or with --no-secret-keys`,
    );
  }
  return found.length === 0 ? undefined : readFile(file, "utf8");
}

/**
 * Writes a file with keys that is not there yet, which only its owner can read.
 *
 * @returns a function that removes it again.
 */
export async function saveSecretKeys(file: string, text: string): Promise<() => Promise<void>> {
  parseSecretKeys(text, "the dump");
  await writeNewFile(file, text);
  return () => rm(file, { force: true });
}

function parseSecretKeys(text: string, file: string): SecretKeys {
  const keys = text.split("\n").flatMap((line, index) => {
    const key = line.trim();
    if (key === "" || key.startsWith("#")) return [];
    const bytes = Buffer.from(key, "base64");
    if (bytes.length !== secretKeyLength || bytes.toString("base64") !== key) {
      throw new Error(
        `line ${index + 1} of ${file} must be ${secretKeyLength} bytes in base64, as "openssl rand -base64 ${secretKeyLength}" prints them`,
      );
    }
    return [bytes];
  });
  const [first, ...rest] = keys;
  if (first === undefined) throw new Error(`${file} has no key; "openssl rand -base64 ${secretKeyLength}" prints one`);
  return [first, ...rest];
}

async function createFile(file: string): Promise<void> {
  try {
    await writeNewFile(file, `${randomBytes(secretKeyLength).toString("base64")}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

async function writeNewFile(file: string, text: string): Promise<void> {
  await makeDirectory(dirname(file));
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
