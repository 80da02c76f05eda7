// The file of a dump: its text, compressed with zstd, and encrypted if there is somebody for whom.
import { createReadStream } from "node:fs";
import { open, rename, rm, stat, writeFile } from "node:fs/promises";
import { Readable, pipeline as connect } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import type { Encrypter } from "age-encryption";
import { DumpError } from "../../database/dump/dump-error.ts";
import { damaged, noDump } from "../../database/dump/manifest.ts";
import { type DecryptionOptions, ageHeader, decrypt, encrypt } from "./encryption.ts";

const zstdHeader = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

interface WriteOptions {
  /** Whether a file that is there is replaced. */
  readonly force: boolean;
  readonly encrypter: Encrypter | undefined;
  readonly signal: AbortSignal;
}

/** @throws DumpError FILE_EXISTS */
export async function refuseToReplace(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined) throw new DumpError("FILE_EXISTS", `${file} exists; --force replaces it`);
}

/**
 * Writes a dump to a file that only its owner can read. It has its name once it is complete and on the disk.
 *
 * @returns its size in bytes.
 */
export async function writeDumpFile(
  file: string,
  text: AsyncIterable<Buffer>,
  { force, encrypter, signal }: WriteOptions,
): Promise<number> {
  const draft = `${file}.${process.pid}.part`;
  const handle = await open(draft, "wx", 0o600);
  try {
    const compress = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    const write = (bytes: AsyncIterable<Buffer>): Promise<void> => writeFile(handle, bytes);
    const source = Readable.from(text);
    if (encrypter === undefined) {
      await pipeline(source, compress, write, { signal });
    } else {
      const compressed = pipeline(source, compress, { signal });
      // It fails what reads from it as well.
      compressed.catch(() => {});
      await pipeline(await encrypt(encrypter, compress), write, { signal });
      await compressed;
    }
    await handle.sync();
    const { size } = await handle.stat();
    await handle.close();
    if (!force) await refuseToReplace(file);
    await rename(draft, file);
    return size;
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(draft, { force: true });
    signal.throwIfAborted();
    throw error;
  }
}

/**
 * Reads the text of a dump from a file.
 *
 * @throws DumpError; Error if the file cannot be read.
 */
export async function* readDumpFile(file: string, options: DecryptionOptions): AsyncGenerator<Buffer> {
  const start = await readStart(file);
  const isEncrypted = start.equals(ageHeader);
  if (!isEncrypted && !start.subarray(0, zstdHeader.length).equals(zstdHeader)) throw noDump();
  const raw = createReadStream(file);
  const compressed = isEncrypted ? await decrypt(options, raw) : raw;
  // An error of each comes out of the last one.
  const text = connect(compressed, createZstdDecompress(), () => {});
  try {
    for await (const chunk of text) yield chunk as Buffer;
  } catch (error) {
    throw damaged(error instanceof Error ? error.message : String(error), error);
  } finally {
    raw.destroy();
  }
}

/** @throws Error if the file cannot be read. */
export const isEncryptedDump = async (file: string): Promise<boolean> => (await readStart(file)).equals(ageHeader);

async function readStart(file: string): Promise<Buffer> {
  let handle;
  try {
    handle = await open(file, "r");
  } catch (cause) {
    throw new Error(`${file} cannot be read`, { cause });
  }
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(ageHeader.length), 0, ageHeader.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
