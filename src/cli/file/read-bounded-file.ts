import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { ImportError } from "../import-error.ts";

/** Reads a file, which may be a pipe, of at most `maxBytes`. @throws ImportError that says why the file cannot be read. */
export async function readBoundedFile(file: string, maxBytes: number): Promise<Buffer> {
  return readBoundedStream(createReadStream(file), file, maxBytes);
}

/**
 * Reads a stream of at most `maxBytes`.
 *
 * @param name what errors call the stream.
 * @throws ImportError that says why the stream cannot be read.
 */
export async function readBoundedStream(stream: Readable, name: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) throw new ImportError(`${name} is larger than ${describeSize(maxBytes)}`);
    }
  } catch (error) {
    throw error instanceof ImportError ? error : explain(name, error);
  }
  return Buffer.concat(chunks);
}

/** Yields a file's lines, which end with LF or CRLF. @throws ImportError that says why the file cannot be read. */
export async function* readLines(file: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  } catch (error) {
    throw explain(file, error);
  }
}

function explain(file: string, error: unknown): ImportError {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return new ImportError(`there is no file ${file}`);
    case "EISDIR":
      return new ImportError(`${file} is a directory`);
    case "EACCES":
    case "EPERM":
      return new ImportError(`you are not allowed to read ${file}`);
    default:
      return new ImportError(`${file} cannot be read`, { cause: error });
  }
}

function describeSize(bytes: number): string {
  return bytes >= 1_048_576 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`;
}
