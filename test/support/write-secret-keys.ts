import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes a file with a new secret key, which all servers of a database need. Returns its path. */
export async function writeSecretKeys(directory: string): Promise<string> {
  const path = join(directory, "shared-secret-keys");
  await writeFile(path, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
  return path;
}
