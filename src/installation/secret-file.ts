import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory } from "../files/make-directory.ts";

/** Writes a line atomically to a file that only its owner can read. */
export async function writeSecretFile(file: string, line: string): Promise<void> {
  await makeDirectory(dirname(file));
  const draft = `${file}.${process.pid}`;
  // A file that a crash left behind keeps its mode, so that others may be able to read it.
  await rm(draft, { force: true });
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(`${line}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
