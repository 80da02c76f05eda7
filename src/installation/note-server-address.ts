import { readFile, rm } from "node:fs/promises";
import type { Logger } from "pino";
import { formatServerAddress, serverAddressFile } from "../files/server-address.ts";
import { writeSecretFile } from "./secret-file.ts";

/** The addresses at which a server listens that are on this machine, by those at which it may have been told to. */
const onThisMachine: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]" };

/**
 * Notes in the data directory where this process listens, if that is on this machine. Of several servers with one directory, that of the
 * last is noted.
 *
 * @param address at which it listens: `127.0.0.1`.
 * @returns what removes the file, unless another server has written it since.
 */
export async function noteServerAddress(
  dataDirectory: string,
  { address, port }: { readonly address: string; readonly port: number },
  logger: Logger,
): Promise<() => Promise<void>> {
  const file = serverAddressFile(dataDirectory);
  const host = onThisMachine[address] ?? (address.startsWith("127.") ? address : undefined);
  if (host === undefined) return () => Promise.resolve();
  const line = await formatServerAddress(`http://${host}:${port}`, process.pid);
  try {
    await writeSecretFile(file, line);
  } catch (err) {
    logger.warn({ err }, `${file} cannot be written: commands on this machine need TENANTRY_URL`);
  }
  return async () => {
    const noted = await readFile(file, "utf8").catch(() => "");
    if (noted === `${line}\n`) await rm(file, { force: true });
  };
}
