import { join } from "node:path";
import type { SaveOperatorKey } from "./open-installation.ts";
import { writeSecretFile } from "./secret-file.ts";

export function operatorKeyFile(dataDirectory: string): string {
  return join(dataDirectory, "operator-key");
}

/** Returns a function that writes the key atomically to a file that only its owner can read. */
export function createOperatorKeyFile(dataDirectory: string): SaveOperatorKey {
  return (secret) => writeSecretFile(operatorKeyFile(dataDirectory), secret);
}
