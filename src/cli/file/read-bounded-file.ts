import { createReadStream } from "node:fs";
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

/** The longest line that is read: more is no line of anybody, and would be more than a string can have. */
const maxLineLength = 134_217_728;

/**
 * Yields a file's lines, which end with LF or CRLF. Other characters that end lines elsewhere, such as U+2028, may be in texts of JSON.
 *
 * @throws ImportError that says why the file cannot be read.
 */
export async function* readLines(file: string): AsyncGenerator<string> {
  try {
    yield* splitLines(createReadStream(file, "utf8") as AsyncIterable<string>, file);
  } catch (error) {
    throw error instanceof ImportError ? error : explain(file, error);
  }
}

async function* splitLines(chunks: AsyncIterable<string>, name: string): AsyncGenerator<string> {
  let pieces: string[] = [];
  let length = 0;
  const takeLine = (): string => pieces.join("").replace(/\r$/, "");
  for await (const chunk of chunks) {
    const [first = "", ...others] = chunk.split("\n");
    pieces.push(first);
    length += first.length;
    for (const next of others) {
      yield takeLine();
      pieces = [next];
      length = next.length;
    }
    if (length > maxLineLength)
      throw new ImportError(`${name} has a line that is longer than ${describeSize(maxLineLength)}`);
  }
  if (length > 0) yield takeLine();
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
