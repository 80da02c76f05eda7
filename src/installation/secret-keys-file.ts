// The keys that encrypt secrets in the database: 32 random bytes in base64 on each line of a file. The first line encrypts; all
// decrypt, so that a key can be replaced by adding a line on top.
import { randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
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
  const file = given ?? join(dataDirectory, "secret-keys");
  const isDefault = given === undefined;
  if (isDefault) await createFile(dataDirectory, file);
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
  const file = given ?? join(dataDirectory, "secret-keys");
  try {
    return createSealer(parseSecretKeys(await readFile(file, "utf8"), file)).keyIds.includes(id) ? file : undefined;
  } catch {
    return undefined;
  }
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

async function createFile(directory: string, file: string): Promise<void> {
  await makeDirectory(directory);
  let handle;
  try {
    handle = await open(file, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  try {
    await handle.writeFile(`${randomBytes(secretKeyLength).toString("base64")}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
