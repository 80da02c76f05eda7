// A file of sealed blocks: the header of its key, and then for each block its length and the block, encrypted with AES-256-GCM. The
// nonce is the number of the block, so that a block is opened only in its place, and each file has a key of its own, so that no nonce
// is used twice. Whether the file is whole is for its content to say: the last blocks may be missing.
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { FileKey } from "../../../identity/sealer.ts";

/** What a file contains is not what was written, or was written for something else. */
export class UnusableFileError extends Error {
  override readonly name = "UnusableFileError";
}

export interface BlockWriter {
  /** Seals a block. What it returns must be awaited before the next one. */
  write(block: Uint8Array): Promise<void> | undefined;
  /** Writes what has not been written yet. */
  end(): Promise<void>;
}

export interface BlockReader {
  /** @throws UnusableFileError when the file ends before, or the block is not what was written. */
  read(): Promise<Buffer>;
  isAtEnd(): boolean;
}

const algorithm = "aes-256-gcm";
const tagLength = 16;
const nonceLength = 12;
const lengthBytes = 4;

/** How much is handed to the operating system at once. */
const bufferedBytes = 4 * 1_048_576;

/** More than any block has: the length of a block is not authenticated before it has been read. */
const maxBlockBytes = 256 * 1_048_576;

export function createBlockWriter(handle: FileHandle, { header, key }: FileKey): BlockWriter {
  const nonces = createNonces();
  let waiting: Buffer[] = [header];
  let bytes = 0;
  let writing = Promise.resolve();

  const flush = async (): Promise<void> => {
    // One write at a time, while the next blocks are being sealed.
    await writing;
    writing = writeAll(handle, waiting);
    // The failure is thrown when the write is awaited.
    writing.catch(() => {});
    waiting = [];
    bytes = 0;
  };

  return {
    write(block) {
      const cipher = createCipheriv(algorithm, key, nonces.next());
      const sealed = cipher.update(block);
      cipher.final();
      const length = Buffer.alloc(lengthBytes);
      length.writeUInt32BE(sealed.length);
      waiting.push(length, sealed, cipher.getAuthTag());
      bytes += sealed.length;
      return bytes < bufferedBytes ? undefined : flush();
    },

    async end() {
      await flush();
      await writing;
    },
  };
}

/** @param position where the first block starts. */
export async function openBlocks(handle: FileHandle, key: Buffer, position: number): Promise<BlockReader> {
  const nonces = createNonces();
  const { size } = await handle.stat();
  let next = position;
  let buffer = Buffer.allocUnsafeSlow(bufferedBytes);
  let [start, end] = [0, 0];

  /** Returns the next bytes of the file, until the next call. */
  const take = async (length: number): Promise<Buffer> => {
    if (length > end - start + (size - next)) throw new UnusableFileError("the file is too short");
    if (length > end - start) await fill(length);
    start += length;
    return buffer.subarray(start - length, start);
  };

  const fill = async (length: number): Promise<void> => {
    const rest = buffer.subarray(start, end);
    if (length > buffer.length) buffer = Buffer.allocUnsafeSlow(length);
    rest.copy(buffer);
    [start, end] = [0, rest.length];
    while (end < length) {
      const { bytesRead } = await handle.read(buffer, end, buffer.length - end, next);
      if (bytesRead === 0) throw new UnusableFileError("the file is too short");
      end += bytesRead;
      next += bytesRead;
    }
  };

  return {
    async read() {
      const length = (await take(lengthBytes)).readUInt32BE();
      if (length > maxBlockBytes) throw new UnusableFileError("a block is too long");
      const sealed = await take(length + tagLength);
      const decipher = createDecipheriv(algorithm, key, nonces.next(), { authTagLength: tagLength });
      decipher.setAuthTag(sealed.subarray(length));
      const block = decipher.update(sealed.subarray(0, length));
      try {
        decipher.final();
      } catch (cause) {
        throw new UnusableFileError("a block is damaged", { cause });
      }
      return block;
    },

    isAtEnd: () => start === end && next >= size,
  };
}

async function writeAll(handle: FileHandle, buffers: readonly Buffer[]): Promise<void> {
  const wanted = buffers.reduce((sum, { length }) => sum + length, 0);
  const { bytesWritten } = await handle.writev(buffers);
  if (bytesWritten !== wanted) throw new Error(`only ${bytesWritten} of ${wanted} bytes were written`);
}

function createNonces() {
  let count = 0;
  return {
    next(): Buffer {
      const nonce = Buffer.alloc(nonceLength);
      nonce.writeUInt32BE(count++, nonceLength - 4);
      return nonce;
    },
  };
}
