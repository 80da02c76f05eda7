import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SaveOperatorKey } from "./open-installation.ts";

export function operatorKeyFile(dataDirectory: string): string {
  return join(dataDirectory, "operator-key");
}

/** Returns a function that writes the key atomically to a file that only its owner can read. */
export function createOperatorKeyFile(dataDirectory: string): SaveOperatorKey {
  return async (secret) => {
    const file = operatorKeyFile(dataDirectory);
    await mkdir(dataDirectory, { recursive: true });
    const draft = `${file}.${process.pid}`;
    // A file that a crash left behind keeps its mode, so that others may be able to read it.
    await rm(draft, { force: true });
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(`${secret}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  };
}
