import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SaveOperatorKey } from "./installation/open-installation.ts";

export function operatorKeyFile(dataDirectory: string): string {
  return join(dataDirectory, "operator-key");
}

/** Writes the key where only the owner can read it, whole or not at all. */
export function createOperatorKeyFile(dataDirectory: string): SaveOperatorKey {
  return async (secret) => {
    const file = operatorKeyFile(dataDirectory);
    await mkdir(dataDirectory, { recursive: true });
    const draft = `${file}.${process.pid}`;
    // One that a crash left behind keeps its mode, and may be open to others.
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
